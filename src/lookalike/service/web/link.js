// @ts-check
/**
 * The state as a link and back: `#/films?id=7&steps=[...]&view=graph`. What is as it always is stays
 * out of the link. What cannot be read is left out too, and said.
 */

export const PAGE = 20; // hits at first, and with every "more"

/** @returns {Link} */
export function emptyLink() {
  return {
    collection: null,
    query: null,
    steps: [],
    pending: { like: [], unlike: [] },
    space: "plain",
    view: "map",
    color: null,
    sized: false,
    open: null,
    k: PAGE,
    grown: [],
    set: null,
    who: null,
    wide: false,
    measure: null,
    versus: null,
    decided: [],
    told: 0,
    from: null,
    sheet: null,
    groups: null,
    within: null,
  };
}

const isId = (value) => typeof value === "string" || Number.isFinite(value);
const isIds = (value) => Array.isArray(value) && value.every(isId);
const isRecord = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value);
const isMarks = (value) =>
  isRecord(value) && isIds(value.like) && isIds(value.unlike);
const isStep = (step) =>
  isRecord(step) &&
  (isMarks(step.marks) ||
    (isRecord(step.weights) && Object.values(step.weights).every((w) => w >= 0 && w <= 4)) ||
    (isRecord(step.filter) && Object.values(step.filter).every(isRecord)));
const isSet = (value) =>
  isRecord(value) &&
  (isIds(value.ids) ||
    (Array.isArray(value.poly) && value.poly.length >= 6 && value.poly.every(Number.isFinite)));

/** Which values a part of the link may have. @type {Object<string, (value: any) => boolean>} */
const RULES = {
  query: (value) => isRecord(value) && (isId(value.id) || isRecord(value.record)),
  steps: (value) => Array.isArray(value) && value.every(isStep),
  pending: isMarks,
  space: (value) => value === "plain" || value === "repaired",
  view: (value) => ["map", "graph", "hubs", "clusters", "set"].includes(value),
  color: (value) => typeof value === "string",
  sized: (value) => typeof value === "boolean",
  open: isId,
  k: (value) => Number.isInteger(value) && value >= 1 && value <= 1000,
  grown: isIds,
  set: isSet,
  who: isId,
  wide: (value) => typeof value === "boolean",
  measure: (value) => typeof value === "string",
  versus: (value) => Array.isArray(value) && value.length <= 2 && value.every((name) => typeof name === "string"),
  decided: (value) => Array.isArray(value) && value.every((one) => Array.isArray(one) && one.length === 3 && isIds(one.slice(0, 2)) && [true, false, null].includes(one[2])),
  told: (value) => Number.isInteger(value) && value >= 0,
  from: (value) => value >= 0 && value <= 1,
  sheet: (value) => ["columns", "new", "measures", "review"].includes(value),
  groups: (value) => Number.isInteger(value) && value >= 2 && value <= 50,
  within: (value) => value === "set" || (Number.isInteger(value) && value >= 0),
};

/**
 * Read the part of an address behind "#".
 *
 * @param {string} hash
 * @returns {{link: Link, unread: string[]}}
 */
export function readLink(hash) {
  const link = emptyLink();
  /** @type {string[]} */
  const unread = [];
  const [, path = "", search = ""] = /^#?\/?([^?]*)\??(.*)$/.exec(hash) ?? [];
  try {
    link.collection = path ? decodeURIComponent(path) : null;
  } catch {
    unread.push("collection");
  }
  for (const [name, text] of new URLSearchParams(search)) {
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      value = text;
    }
    if (RULES[name]?.(value)) /** @type {any} */ (link)[name] = value;
    else unread.push(name);
  }
  return { link, unread };
}

/**
 * @param {Link} link
 * @returns {string}
 */
export function writeLink(link) {
  const plain = /** @type {any} */ (emptyLink());
  const params = new URLSearchParams();
  for (const name of Object.keys(RULES)) {
    const value = /** @type {any} */ (link)[name];
    const text = JSON.stringify(value);
    if (text === JSON.stringify(plain[name])) continue;
    // A string that would read as a number needs its quotes; the others look better without.
    params.set(name, typeof value === "string" && !readsAsJson(value) ? value : text);
  }
  const search = params.toString().replaceAll("%22", '"').replaceAll("%3A", ":").replaceAll("%2C", ",");
  return `#/${encodeURIComponent(link.collection ?? "")}${search ? `?${search}` : ""}`;
}

/** @param {string} text */
function readsAsJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The weights, the filter and the marks that a list of steps ends in. @param {Link} link */
export function question(link) {
  /** @type {Object<string, number>} */
  let weights = {};
  /** @type {Object<string, Object<string, any>>} */
  let filter = {};
  /** @type {Id[]} */
  const like = [];
  /** @type {Id[]} */
  const unlike = [];
  for (const step of link.steps) {
    if ("weights" in step) weights = step.weights;
    else if ("filter" in step) filter = step.filter;
    else {
      like.push(...step.marks.like);
      unlike.push(...step.marks.unlike);
    }
  }
  // Without a prototype: a column may be called "constructor", which every other object has.
  const bare = (/** @type {any} */ some) => Object.assign(Object.create(null), some);
  return { weights: bare(weights), filter: bare(filter), like, unlike };
}
