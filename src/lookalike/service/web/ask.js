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
  return state.link.space === "plain" && (info(state)?.measure.weighable ?? false);
}

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
  const ids = withinIds(state);
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
  if (!info(state) || info(state).name !== state.link.collection || state.link.sheet) return calls;
  calls.push(...searches(state));
  if (state.ui.few) return calls; // nothing is worked on beside the first list
  calls.push({ slot: "measures", method: "GET", path: "/api/measures" }, ...views(state));
  const text = state.ui.text.trim();
  if (text) {
    const found = path(state, `/rows?limit=8&text=${encodeURIComponent(text)}`);
    calls.push({ slot: "rows", method: "GET", path: found, wait: 100, keeps: true });
  }
  return calls;
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
  if (view === "map" || (set && "poly" in set && (view === "set" || state.link.within === "set"))) get("map", `/map?${fresh}`);
  if (view === "clusters" || typeof state.link.within === "number") get("clusters", `/clusters?labels=true&${groups}`);
  if (view === "map") {
    const column = color ?? firstColor(state);
    if (column) get("colors", `/map/colors?column=${encodeURIComponent(column)}&${column === "cluster" ? groups : fresh}`);
    if (state.link.sized) get("sizes", `/map/colors?column=occurrence&${fresh}`);
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
  if (!map?.ids) return null;
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
