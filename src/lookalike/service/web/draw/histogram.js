// @ts-check
/** How many rows have which value. */
import { h } from "./dom.js";
import { cell } from "./scales.js";

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
    { class: "histogram", viewBox: "0 0 200 60", preserveAspectRatio: "none", role: "img", "aria-label": logarithm ? `${label}, heights logarithmic` : label },
    logarithm ? h("title", null, "heights are logarithmic") : null,
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
