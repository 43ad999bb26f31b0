// @ts-check
/** Small pictures made of SVG and boxes: reasons that add up, lists of numbers as curves. */
import { h } from "./dom.js";
import { isCurve, score } from "./scales.js";

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
      class: parts.length > 16 ? "stack many" : "stack", // lines between so many would be all
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
