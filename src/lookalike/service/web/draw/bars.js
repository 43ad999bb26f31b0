// @ts-check
/** Small pictures made of SVG and boxes: reasons that add up, dots on a range, histograms. */
import { h } from "./dom.js";
import { cell, isCurve, place, ranged, score } from "./scales.js";

/**
 * What every column says for and against, as one bar whose blue part is the similarity.
 *
 * @param {Hit} hit
 */
export function stack(hit) {
  const parts = hit.columns ?? [];
  const plus = parts.filter((part) => part.plus > 0.0005).sort((a, b) => b.plus - a.plus);
  const minus = parts.filter((part) => part.minus > 0.0005).sort((a, b) => b.minus - a.minus);
  const name = (part) => part.column ?? "other";
  const piece = (part, side) =>
    h("i", {
      key: `${side} ${name(part)}`,
      class: side,
      css: { "--v": (100 * part[side]).toFixed(2) },
      title: `${name(part)} ${side === "plus" ? "+" : "−"}${score(part[side])}`,
    });
  const all = plus.length || minus.length;
  return h(
    "div",
    {
      class: "stack",
      role: "img",
      "aria-label": `similarity ${score(hit.similarity)}, ${plus.length} columns for and ${minus.length} against`,
    },
    all ? [plus.map((part) => piece(part, "plus")), minus.map((part) => piece(part, "minus"))] : bare(hit),
  );
}

/** @param {Hit} hit */
function bare(hit) {
  return h("i", { key: "all", class: "plus", css: { "--v": (100 * (hit.similarity ?? 0)).toFixed(2) } });
}

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
  return h("span", { class: "muted" }, query === null || found === null ? "a gap" : same(query, found));
}

/** @param {any} query @param {any} found */
const same = (query, found) => (query === found ? "the same" : "not the same");

/** @param {string} text */
const words = (text) => [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, 40);

/** @param {Column} column */
const range = (column) => `from ${cell(column.summary.min, column)} to ${cell(column.summary.max, column)}`;

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

/** A list of numbers as bars; with another one, that as a line above them. */
export function curve(values, other = null) {
  const [bars, line] = [values, other].map((list) => (isCurve(list) ? list.map((v) => v ?? 0) : []));
  const top = Math.max(...bars, ...line, 1e-12);
  const low = Math.min(0, ...bars, ...line);
  const tall = (value) => Math.max(1, (16 * (value - low)) / (top - low || 1));
  const step = 60 / (bars.length || 1);
  const corners = line.flatMap((value, i) => {
    const y = (18 - tall(value)).toFixed(2);
    return [`${((i * 60) / line.length).toFixed(2)},${y}`, `${(((i + 1) * 60) / line.length).toFixed(2)},${y}`];
  });
  return h(
    "svg",
    { class: other === null ? "curve" : "curve both", viewBox: "0 0 60 18", preserveAspectRatio: "none", role: "img", "aria-label": `${bars.length} values` },
    bars.map((value, i) =>
      h("rect", { x: (i * step).toFixed(2), y: (18 - tall(value)).toFixed(2), width: Math.max(step - 1, step * 0.6).toFixed(2), height: tall(value).toFixed(2) }),
    ),
    corners.length ? h("polyline", { points: corners.join(" ") }) : null,
  );
}

/**
 * How many rows have which value, with one value marked.
 *
 * @param {{edges: any[], counts: number[]}} bins
 * @param {{label: string, at?: number|null, logarithm?: boolean}} options
 */
export function histogram({ edges, counts }, { label, at = null, logarithm = false }) {
  const heights = counts.map((n) => (logarithm ? Math.log1p(n) : n));
  const top = Math.max(...heights, 1e-12);
  const step = 200 / heights.length;
  return h(
    "svg",
    { class: "histogram", viewBox: "0 0 200 60", preserveAspectRatio: "none", role: "img", "aria-label": label },
    heights.map((value, i) => {
      const tall = value > 0 ? Math.max(1, (56 * value) / top) : 0;
      return h(
        "rect",
        { x: (i * step).toFixed(2), y: (60 - tall).toFixed(2), width: Math.max(step - 1, step * 0.7).toFixed(2), height: tall.toFixed(2) },
        h("title", null, `${cell(edges[i])} to ${cell(edges[i + 1])}: ${counts[i]}`),
      );
    }),
    at === null ? null : h("line", { class: "mark", x1: 200 * at, x2: 200 * at, y1: 0, y2: 60 }),
  );
}
