// @ts-check
/** How many rows have which value; a part of the range can be chosen by dragging over it. */
import { h } from "./dom.js";
import { cell } from "./scales.js";

/**
 * How many rows have which value, with one value marked.
 *
 * @param {{edges: any[], counts: number[]}} bins
 * @param {{label: string, at?: number|null, logarithm?: boolean, chosen?: number[]|null, color?: (value: number) => string, brush?: (from: number, to: number) => void}} options
 */
export function histogram({ edges, counts }, { label, at = null, logarithm = false, chosen = null, color, brush }) {
  const heights = counts.map((n) => (logarithm ? Math.log1p(n) : n));
  const top = Math.max(...heights, 1e-12);
  const step = 200 / heights.length;
  return h(
    "svg",
    { class: brush ? "histogram brushed" : "histogram", viewBox: "0 0 200 60", preserveAspectRatio: "none", role: "img", "aria-label": logarithm ? `${label}, heights logarithmic` : label, on: brush ? drags(brush) : undefined },
    logarithm ? h("title", null, `heights are logarithmic${brush ? "; drag to keep a part" : ""}`) : null,
    brush ? h("rect", { class: "chosen", key: "chosen", x: 200 * (chosen?.[0] ?? 0), width: chosen ? 200 * (chosen[1] - chosen[0]) : 0, y: 0, height: 60 }) : null,
    heights.map((value, i) => {
      const tall = value > 0 ? Math.max(1, (56 * value) / top) : 0;
      return h(
        "rect",
        { x: (i * step).toFixed(2), y: (60 - tall).toFixed(2), width: Math.max(step - 1, step * 0.7).toFixed(2), height: tall.toFixed(2), ...(color ? { css: { fill: color((edges[i] + edges[i + 1]) / 2) } } : {}) },
        h("title", null, `${cell(edges[i])} to ${cell(edges[i + 1])}: ${counts[i]}`),
      );
    }),
    at === null ? null : h("line", { class: "mark", x1: 200 * at, x2: 200 * at, y1: 0, y2: 60 }),
  );
}

/** Dragging over the picture; the rectangle follows the pointer by itself. @param {(from: number, to: number) => void} brush */
function drags(brush) {
  /** @type {number|null} */
  let start = null;
  const share = (event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
  const ends = (event) => [start ?? 0, share(event)].sort((a, b) => a - b);
  return {
    pointerdown: (event) => {
      start = share(event);
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    pointermove: (event) => {
      if (start === null) return;
      const [from, to] = ends(event);
      const box = event.currentTarget.querySelector(".chosen");
      box.setAttribute("x", 200 * from);
      box.setAttribute("width", 200 * (to - from));
    },
    pointerup: (event) => {
      const [from, to] = ends(event);
      start = null;
      if (to - from > 0.01) brush(from, to);
    },
  };
}
