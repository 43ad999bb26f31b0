// @ts-check
/** In place of `api.js` of the page: the calls are answered from the data in this file. */
import { compare, distanceOf, meeting, readData, scores, weightOf } from "./compare.js";
import { explain, reasonsOf, view } from "./reasons.js";

export class ProblemError extends Error {
  /** @param {any} problem */
  constructor(problem) {
    super(problem.title);
    this.problem = problem;
  }
}

export const keepToken = () => {};
export const authorization = () => ({});
export const readProblem = async () => ({ title: "This file has no server", status: 0 });

/** @param {string} text base64 @returns {Uint8Array} */
export function readBytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

async function open() {
  const packed = readBytes(document.getElementById("data")?.textContent?.trim() ?? "");
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = readData(await new Response(stream).arrayBuffer());
  data.at = new Map(data.ids.map((id, row) => [id, row]));
  return data;
}
const opened = open();

const named = (data, row) => ({
  id: data.ids[row],
  label: data.labels[row],
  row: Object.fromEntries(Object.entries(data.cells).map(([name, cells]) => [name, cells[row]])),
});

/** @param {any} data @param {any} id */
function place(data, id) {
  const row = data.at.get(id) ?? data.at.get(Number(id));
  if (row === undefined) throw new ProblemError({ title: "This row is not in the file", status: 404 });
  return row;
}

const ALONE = "This page is a file: rows can be searched, not changed or described. `lookalike explore TABLE` opens it with one that can.";

/** @param {any} data @param {any} body */
function search(data, { query, k, weights = {}, filter = {}, like = [], unlike = [] }) {
  if (query?.record) throw new ProblemError({ title: "A described row needs a server", status: 0, detail: ALONE });
  const began = performance.now();
  const i = place(data, query.id);
  const [yes, no] = [like, unlike].map((ids) => ids.map((id) => place(data, id)));
  const found = scores(data, i, yes, no, weights);
  const out = new Set([i, ...yes, ...no]);
  const allowed = meeting(data, filter);
  const size = (row) => (found.score[row] === found.score[row] ? found.score[row] : Infinity);
  const rows = allowed.filter((row) => !out.has(row)).sort((a, b) => (size(a) < size(b) ? -1 : size(a) > size(b) ? 1 : a - b)).slice(0, k);
  const own = view(data, i);
  const hits = rows.map((row, at) => hitOf(data, found, [i, row], at + 1, { own, weights }));
  const guessed = rows.filter((row) => !found.sure[row]).length;
  const lists = data.columns.filter(({ how }) => how === "list").map(({ name }) => name).join(", ");
  const note = guessed ? `${guessed} of ${rows.length} similarities are estimates: this file holds the differences in ${lists} to the nearest rows only.` : null;
  return { query: named(data, i), hits, matched: allowed.length, note, generation: 1, space: "plain", took_ms: performance.now() - began };
}

/** @param {any} data @param {any} found @param {number[]} pair @param {number} rank @param {{own: any, weights: Object<string, number>}} asked */
function hitOf(data, found, [i, row], rank, { own, weights }) {
  const similarity = found.similarity[row];
  const known = similarity === similarity;
  const parts = explain(data, found, i, row, own);
  const counts = data.info.columns.filter(({ name, compared }) => compared && weightOf(data, weights, name)).map(({ name }) => data.cells[name]);
  return {
    ...named(data, row),
    rank,
    score: known ? found.score[row] : null,
    similarity: known ? similarity : null,
    distance: known ? distanceOf(data, similarity) : null,
    compared: counts.filter((cells) => cells[i] !== null && cells[row] !== null).length,
    compared_of: counts.length,
    reasons: reasonsOf(data, parts),
    columns: parts,
  };
}

/** Rows with a text: in the label first, at its beginning first of all. @param {any} data @param {URLSearchParams} asked */
function rows(data, asked) {
  const wanted = (asked.get("text") ?? "").toLowerCase().trim();
  const limit = Number(asked.get("limit") ?? 20);
  const rank = (row) => {
    const label = String(data.labels[row]).toLowerCase();
    if (label === wanted || String(data.ids[row]) === wanted) return 0;
    if (label.startsWith(wanted)) return 1;
    if (label.includes(wanted)) return 2;
    return data.texts.some((name) => JSON.stringify(data.cells[name][row]).toLowerCase().includes(wanted)) ? 3 : 4;
  };
  const ranks = data.ids.map((_, row) => rank(row));
  const order = ranks.map((_, row) => row).filter((row) => ranks[row] < 4).sort((a, b) => ranks[a] - ranks[b] || a - b);
  return { rows: order.slice(0, limit).map((row) => named(data, row)) };
}

/** A row and its nearest, with the links between them. @param {any} data @param {URLSearchParams} asked */
function graph(data, asked) {
  const near = (row) => search(data, { query: { id: data.ids[row] }, k: Number(asked.get("k") ?? 5) }).hits;
  const root = place(data, asked.get("id"));
  const hits = near(root);
  const ids = [data.ids[root], ...hits.map(({ id }) => id)];
  const back = new Set(hits.filter(({ id }) => near(place(data, id)).some((one) => one.id === ids[0])).map(({ id }) => id));
  const nodes = ids.map((id, depth) => ({ id, label: data.labels[place(data, id)], depth: Math.min(depth, 1), occurrence: null, hub: false, orphan: false }));
  return { nodes, links: hits.map(({ id, similarity }) => ({ source: ids[0], target: id, similarity, mutual: back.has(id) })), generation: 1 };
}

/** The map: its head, x and y. @param {any} data */
function map(data) {
  const places = data.bytes(data.map.places);
  return { ...data.map, ids: data.ids, x: places.subarray(0, data.rows), y: places.subarray(data.rows) };
}

/** Which rows meet a filter, as bits in base64. @param {any} data @param {URLSearchParams} asked */
function matches(data, asked) {
  const rows = meeting(data, JSON.parse(asked.get("filter") ?? "{}"));
  const bits = new Uint8Array(Math.ceil(data.rows / 8));
  for (const row of rows) bits[row >> 3] |= 1 << (row & 7);
  return { matched: rows.length, values: btoa(String.fromCharCode(...bits)) };
}

/** What is asked for behind the name of the table. @type {Object<string, (data: any, asked: URLSearchParams, id: string|undefined) => any>} */
const ANSWERS = {
  "": ({ info }) => info,
  rows: (data, asked, id) => (id === undefined ? rows(data, asked) : named(data, place(data, id))),
  graph,
  map: (data, asked, part) => (part === "colors" ? data.colors[asked.get("column") ?? ""] : part === "matches" ? matches(data, asked) : map(data)),
  measures: () => ({ measures: [] }),
  clusters: ({ clusters }) => clusters,
  hubs: ({ hubs }, _asked, id) => (id === undefined ? hubs : undefined),
};

/** @param {string} method @param {string} address @param {any} [body] @returns {Promise<any>} */
export async function call(method, address, body) {
  const data = await opened;
  const [path, asked = ""] = address.split("?");
  const [, , , table, what = "", id] = path.split("/").map(decodeURIComponent);
  if (path === "/api/collections") return { collections: [data.info] };
  const answer = method === "POST" && what === "search" ? search(data, body) : method === "GET" && table ? ANSWERS[what]?.(data, new URLSearchParams(asked), id) : undefined;
  if (answer === undefined || answer === null) throw new ProblemError({ title: "This needs a server", status: 0, detail: ALONE });
  return answer;
}

export const follow = () => Promise.reject(new ProblemError({ title: "This needs a server", status: 0, detail: ALONE }));

// For the console of a browser, and for the tests: `await lookalike.call("POST", ...)`.
Object.assign(window, { lookalike: { call, compare: async (id, weights) => opened.then((data) => compare(data, place(data, id), weights)) } });
