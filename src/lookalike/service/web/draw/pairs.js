// @ts-check
/** Two cells side by side: dots on a range, two curves, what two sets share. */
import { curve } from "./bars.js";
import { h } from "./dom.js";
import { cell, isCurve, place, ranged, skewed } from "./scales.js";

/**
 * Both cells of a column where they lie among all rows: a ring for the question, a dot for the hit.
 *
 * @param {Cell} query
 * @param {Cell} found
 * @param {Column|undefined} column
 */
export function pair(query, found, column) {
  if (column && ranged(column)) {
    const [a, b] = [place(query, column), place(found, column)];
    return h(
      "svg",
      { class: "dots", viewBox: "0 0 120 14", role: "img", "aria-label": range(column) },
      h("line", { x1: 5, x2: 115, y1: 7, y2: 7 }),
      a === null || b === null ? null : h("line", { class: "gap", x1: 5 + 110 * a, x2: 5 + 110 * b, y1: 7, y2: 7 }),
      b === null ? null : h("circle", { class: "found", cx: 5 + 110 * b, cy: 7, r: 4 }),
      a === null ? null : h("circle", { class: "asked", cx: 5 + 110 * a, cy: 7, r: 4 }),
      h("title", null, range(column)),
    );
  }
  if (isCurve(query) || isCurve(found)) return curve(found, query);
  if (Array.isArray(query) || Array.isArray(found)) return items(query, found);
  if (column?.kind === "text" && typeof query === "string" && typeof found === "string") {
    return items(words(query), words(found));
  }
  return h("span", { class: "muted" }, query === null || found === null ? "missing" : same(query, found));
}

/** @param {any} query @param {any} found */
const same = (query, found) => (query === found ? "the same" : "not the same");

/** @param {string} text */
const words = (text) => [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, 40);

/** @param {Column} column */
const range = (column) => `from ${cell(column.summary.min, column)} to ${cell(column.summary.max, column)}${skewed(column) ? ", logarithmic" : ""}`;

/** What two sets share, what only one of them has. @param {any} query @param {any} found */
function items(query, found) {
  const asked = Array.isArray(query) ? query.map(String) : [];
  const hits = Array.isArray(found) ? found.map(String) : [];
  const chip = (item, side) =>
    h("span", { key: item, class: `item ${side}`, title: side === "both" ? "in both" : `only in the one ${side}` }, item);
  const list = [
    ...asked.filter((item) => hits.includes(item)).map((item) => chip(item, "both")),
    ...asked.filter((item) => !hits.includes(item)).map((item) => chip(item, "asked")),
    ...hits.filter((item) => !asked.includes(item)).map((item) => chip(item, "found")),
  ];
  return h("span", { class: "items" }, list.length ? list.slice(0, 24) : h("span", { class: "muted" }, "both empty"));
}
