// @ts-check
/** What a state needs from the server: a list of calls, each with the slot that it fills. */
import { question } from "./link.js";

export const MOST = 10000; // ids of a profile, or of a filter

/**
 * @typedef {Object} Call
 * @property {string} slot
 * @property {string} method
 * @property {string} path
 * @property {any} [body]
 * @property {number} [wait] milliseconds to wait for a further change
 * @property {boolean} [eager] is there no need to wait while nothing else is asked for the slot?
 * @property {string} [key] what tells this call from others to the same path, if not the body
 * @property {boolean} [order] is it an order to start work, after which all is asked again?
 * @property {boolean} [keeps] does the answer stay true until rows change, so that it may be kept?
 */

/** @param {State} state */
export const info = (state) => state.slots.info?.value ?? null;

/** @param {State} state @param {string} [rest] */
export const path = (state, rest = "") =>
  `/api/collections/${encodeURIComponent(state.link.collection ?? "")}${rest}`;

/** The row in question, as the server wants it. @param {State} state */
export function asked(state) {
  const start = info(state)?.start;
  return state.link.query ?? (start === undefined || start === null ? null : { id: start });
}

/** Can the columns be weighed in this question? @param {State} state */
export function weighable(state) {
  const { measure, space } = state.link;
  if (measure !== null) return measuresOf(state).find((one) => one.name === measure)?.weighable ?? false;
  return space === "plain" && (info(state)?.measure.weighable ?? false);
}

/** The measures that can compare these rows, as far as it was asked. @param {State} state @returns {any[]} */
export const measuresOf = (state) => state.slots.measures?.value?.measures ?? [];

/**
 * The body of a search: with all steps, or as it was some steps before.
 *
 * @param {State} state
 * @param {{steps?: number, space?: string}} [change]
 */
export function searchBody(state, { steps = state.link.steps.length, space = state.link.space } = {}) {
  const { weights, filter, like, unlike } = question({
    ...state.link,
    steps: state.link.steps.slice(0, steps),
  });
  /** @type {Object<string, any>} */
  const body = { query: asked(state), k: state.link.k, explain: "all", space };
  if (state.link.measure !== null) Object.assign(body, { measure: state.link.measure, space: "plain" });
  const ids = withinIds(state);
  if (state.link.wide) body.among = 2 * state.link.k;
  if (state.ui.written) body.at_least = state.ui.written;
  if (like.length) body.like = like;
  if (unlike.length) body.unlike = unlike;
  if (ids || Object.keys(filter).length) body.filter = ids ? { ...filter, [info(state).row_ids]: { in: ids } } : filter;
  if (Object.keys(weights).length && weighable(state)) body.weights = weights;
  return body;
}

/**
 * @param {State} state
 * @returns {Call[]}
 */
export function needs(state) {
  /** @type {Call[]} */
  const calls = [{ slot: "collections", method: "GET", path: "/api/collections" }];
  const none = state.slots.collections?.value?.collections.length === 0;
  if (state.link.sheet === "new" || none) calls.push({ slot: "examples", method: "GET", path: "/api/examples" });
  if (!state.link.collection || state.link.sheet === "new") return calls;
  calls.push({ slot: "info", method: "GET", path: path(state) });
  if (!info(state) || info(state).name !== state.link.collection) return calls;
  const { sheet, measure } = state.link;
  if (state.ui.asking || measure !== null || sheet === "measures") calls.push({ slot: "measures", method: "GET", path: path(state, "/measures"), keeps: true });
  if (sheet === "review") calls.push(doubles(state));
  if (sheet === "measures") calls.push(...lists(state));
  if (sheet) return calls;
  calls.push(...searches(state));
  if (state.ui.few) return calls; // nothing is worked on beside the first list
  calls.push(...views(state));
  const text = state.ui.text.trim();
  if (text) {
    const found = path(state, `/rows?limit=8&text=${encodeURIComponent(text)}`);
    calls.push({ slot: "rows", method: "GET", path: found, wait: 100, keeps: true });
  }
  return calls;
}

const REVIEWED = 50; // doubtful pairs to decide, of one question

/** Which rows are the same record, with the answers that were given so far. @param {State} state @returns {Call} */
function doubles(state) {
  const { decided, from, told } = state.link;
  const decisions = decided.slice(0, told).filter(([, , same]) => same !== null).map(([a, b, same]) => ({ pair: [a, b], same }));
  const body = { n: REVIEWED, ...(decisions.length ? { decisions } : {}), ...(from === null ? {} : { threshold: from }) };
  return { slot: "review", method: "POST", path: path(state, "/ask/dedupe"), body, keeps: true };
}

/** @param {State} state @returns {Call[]} */
function searches(state) {
  if (asked(state) === null || withinIds(state)?.length === 0) return [];
  const search = { method: "POST", path: path(state, "/search"), keeps: true, eager: true };
  const wait = state.slots.answer?.value ? 30 : 0;
  const calls = [{ ...search, slot: "answer", body: searchBody(state), wait }];
  const { steps, space } = state.link;
  if (repairing(state)) {
    return [{ slot: "repair", method: "POST", path: path(state, "/repair"), order: true }];
  }
  if (steps.length) {
    calls.push({ ...search, slot: "before", body: searchBody(state, { steps: steps.length - 1 }), wait });
  }
  if (space === "repaired") {
    calls.push({ ...search, slot: "plain", body: searchBody(state, { space: "plain" }), wait });
  }
  return calls;
}

export const SIDE_BY_SIDE = 10; // hits of each list

/** @typedef {{name: string, title: string, weights?: Object<string, number>, measure?: string}} Way */

/** Ways to compare these rows in plain words, and the others by their names. @param {State} state @returns {{plain: Way[], more: Way[]}} */
export function ways(state) {
  const { columns, measure } = info(state);
  const list = measuresOf(state).map(({ name, words }) => ({ name, title: words ?? name, words, measure: name }));
  const compared = columns.filter((column) => column.compared);
  const others = compared.filter(({ kind }) => !["set", "sequence", "text"].includes(kind));
  /** @type {Way[]} */
  const own = [];
  if (measure.weighable && others.length && others.length < compared.length) {
    own.push({ name: "+items", title: "sets and texts", weights: Object.fromEntries(others.map(({ name }) => [name, 0])) });
  }
  return { plain: [...list.filter(({ words }) => words), ...own], more: list.filter(({ words }) => !words) };
}

/** The lists that stand side by side: that of the table first. @param {State} state @returns {Way[]} */
export function sideBySide(state) {
  const { measure } = info(state);
  const { plain, more } = ways(state);
  const all = [...plain, ...more];
  const own_ = measure.asked ?? "auto";
  const first = { name: own_, title: all.find(({ name }) => name === own_)?.title ?? measure.name };
  const others = state.link.versus ?? plain.filter(({ name }) => name !== own_).slice(0, 2).map(({ name }) => name);
  return [first, ...others.map((name) => all.find((one) => one.name === name) ?? { name, title: name, measure: name })];
}

/** One search for each list: marks, weights and filters are left out, so that only the measure differs. @param {State} state @returns {Call[]} */
function lists(state) {
  const query = asked(state);
  if (query === null || state.slots.measures?.status !== "ready") return [];
  return sideBySide(state).map(({ measure, weights }, i) => ({
    slot: `list:${i}`,
    method: "POST",
    path: path(state, "/search"),
    body: { query, k: SIDE_BY_SIDE, explain: 0, ...(measure ? { measure } : {}), ...(weights ? { weights } : {}) },
    keeps: true,
  }));
}

/** Is the repaired space asked for, but not made yet? @param {State} state */
export const repairing = (state) =>
  state.link.space === "repaired" && (info(state)?.spaces?.repaired ?? "ready") !== "ready";

/** @param {State} state @returns {Call[]} */
function views(state) {
  const { view, space, color, who, set } = state.link;
  /** @type {Call[]} */
  const calls = [];
  const get = (slot, rest) =>
    calls.push({ slot, method: "GET", path: path(state, rest), keeps: true });
  // A result of older rows is good enough until the newest are asked for.
  const fresh = `at_least=${state.ui.fresh}`;
  const groups = state.link.groups === null ? fresh : `n=${state.link.groups}&${fresh}`;
  if (repairing(state) && view !== "map") return calls;
  const rough = sketchy(state);
  if (view === "map" || (set && "poly" in set && (view === "set" || state.link.within === "set"))) get("map", `/map?${fresh}${rough && !state.slots.map?.value?.sketch ? SKETCH : ""}`);
  if (view === "clusters" || typeof state.link.within === "number") get("clusters", `/clusters?labels=true&${groups}`);
  if (view === "map") {
    const column = color ?? firstColor(state);
    if (column) get("colors", `/map/colors?column=${encodeURIComponent(column)}&${column === "cluster" ? groups : fresh}${rough ? SKETCH : ""}`);
    const { filter } = question(state.link);
    if (Object.keys(filter).length) get("matches", `/map/matches?filter=${encodeURIComponent(JSON.stringify(filter))}&${fresh}${rough ? SKETCH : ""}`);
    if (state.link.sized) get("sizes", `/map/colors?column=occurrence&${fresh}${rough ? SKETCH : ""}`);
    const { hover } = state.ui;
    const known = state.slots.answer?.value?.hits.some((one) => one.id === hover);
    const gone = state.ui.changes.some(({ what, id }) => what === "Deleted" && id === hover); // still on the map
    if (hover !== null && !known && !gone) {
      const one = path(state, `/rows/${encodeURIComponent(hover)}`);
      calls.push({ slot: "label", method: "GET", path: one, wait: 60, keeps: true });
    }
  }
  if (view === "graph") {
    for (const id of graphRoots(state)) {
      get(`graph:${JSON.stringify(id)}`, `/graph?id=${encodeURIComponent(id)}&depth=1&k=5&space=${space}`);
    }
  }
  if (view === "hubs") {
    get("hubs", `/hubs?space=${space}&${fresh}`);
    if (who !== null) get("who", `/hubs/${encodeURIComponent(who)}?space=${space}&limit=20&${fresh}`);
  }
  if (view === "set") {
    const ids = chosenIds(state);
    if (ids?.length) {
      calls.push({
        slot: "profile",
        method: "POST",
        path: path(state, "/profile"),
        body: { ids: sample(ids) },
        key: JSON.stringify(set), // shorter than the ids, and as telling
        keeps: true,
      });
    }
  }
  return calls;
}

const SKETCH = "&sketch=true";

/** Will a sketch of the map do? Until one is there, and for what is drawn on it. @param {State} state */
function sketchy({ slots: { map } }) {
  return !map?.value || map.value.sketch || (map.valueKey ?? "").includes(SKETCH);
}

/** The column that colors the map if nobody chose one: few values, few gaps. @param {State} state */
export function firstColor(state) {
  const kinds = ["category", "set", "flag", "order", "ordinal"];
  const columns = info(state)?.columns ?? [];
  const best = columns
    .filter((column) => column.compared && kinds.includes(column.kind))
    .sort((a, b) => a.gaps - b.gaps)[0];
  return (best ?? columns.find((column) => column.kind === "number"))?.name ?? null;
}

/** The rows whose neighbors are drawn: the one in question and those that were clicked. */
export function graphRoots(state) {
  const query = asked(state);
  const first = query && "id" in query ? query.id : state.slots.answer?.value?.hits[0]?.id;
  /** @type {Id[]} */
  const roots = first === undefined || first === null ? [] : [first];
  return [...roots, ...state.link.grown.filter((id) => id !== first)];
}

/** The ids of the chosen set; null while the map that they are cut from is not there. */
export function chosenIds(state) {
  const { set } = state.link;
  if (!set) return [];
  if ("ids" in set) return set.ids;
  const map = state.slots.map?.value;
  if (!map?.ids || map.sketch) return null; // a sketch has other places
  if (cut.map !== map || cut.set !== set) cut = { map, set, ids: inside(map, set.poly) };
  return cut.ids;
}

/** The rows that the list is made from: null for all, none while they are on their way. */
export function withinIds(state) {
  const { within } = state.link;
  if (within === null) return null;
  if (within === "set") return sample(chosenIds(state) ?? []);
  const { ids = [], labels = [] } = state.slots.clusters?.value ?? {};
  if (grouped.labels !== labels || grouped.within !== within) grouped = { labels, within, ids: sample(ids.filter((_, i) => labels[i] === within)) };
  return grouped.ids;
}

/** The rows of the last cluster that the list was made from. @type {any} */
let grouped = {};

/** As many rows as one call may name, evenly from all of them. @param {Id[]} ids */
function sample(ids) {
  const step = Math.max(1, ids.length / MOST);
  return Array.from({ length: Math.min(ids.length, MOST) }, (_, i) => ids[Math.floor(i * step)]);
}

/** The last set that was cut out: asked for after every action. @type {any} */
let cut = {};

/**
 * The rows of a map within a polygon (even-odd rule).
 *
 * @param {{ids: Id[], x: Float32Array, y: Float32Array}} map
 * @param {number[]} poly x and y in turn
 * @returns {Id[]}
 */
export function inside(map, poly) {
  /** @type {Id[]} */
  const found = [];
  const n = poly.length / 2;
  for (let i = 0; i < map.ids.length; i += 1) {
    const x = map.x[i];
    const y = map.y[i];
    let within = false;
    for (let a = 0, b = n - 1; a < n; b = a, a += 1) {
      const ya = poly[2 * a + 1];
      const yb = poly[2 * b + 1];
      if (ya > y !== yb > y && x < ((poly[2 * b] - poly[2 * a]) * (y - ya)) / (yb - ya) + poly[2 * a]) {
        within = !within;
      }
    }
    if (within) found.push(map.ids[i]);
  }
  return found;
}
