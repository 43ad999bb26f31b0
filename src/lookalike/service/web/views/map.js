// @ts-check
/** All rows on a plane, colored by a column; the neighbors are those of the real space. */
import { readBytes } from "../api.js";
import { firstColor, info } from "../ask.js";
import { h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";
import { createPlane } from "../draw/plane.js";
import { OTHER, PALETTE, cell, count, percent, ramp, rgb } from "../draw/scales.js";
import { problem, working } from "./states.js";

const FAR = 0.2; // of the width of the map: a neighbor farther off than this is worth a word

/** @param {State} state @param {Dispatch} act */
export default function map(state, act) {
  const slot = state.slots.map;
  if (slot?.status === "error") return problem(slot.problem, act, "map");
  if (!slot?.value?.ids) return h("div", { class: "plane waits" }, working(slot, act));
  const drawing = slot.value;
  const paint = colors(state);
  const places = positions(drawing);
  const answer = state.slots.answer?.value;
  const at = (id) => places.get(id) ?? -1;
  const hits = (answer?.hits ?? []).map((one) => at(one.id)).filter((i) => i >= 0);
  const set = state.link.set;
  const hovered = state.ui.hover ?? state.ui.at;
  const picture = {
    map: drawing,
    rgba: paint.rgba,
    sizes: sizes(state, drawing),
    query: at(answer?.query.id),
    hits,
    hover: hovered === null ? -1 : at(hovered),
    label: answer?.query.label ?? "the question",
    hoverLabel: labelOf(state, hovered),
    poly: set && "poly" in set ? set.poly : null,
    tool: state.ui.tool,
    onPick: (i) => act({ type: "ask", query: { id: drawing.ids[i] } }),
    onPoint: (i) => point(state, act, i < 0 ? null : drawing.ids[i]),
    onChoose: (poly) => act({ type: "set", set: { poly }, view: "set" }),
  };
  return [
    tools(state, act),
    h("div", { key: "frame", class: "frame" }, zooms(), h(
      "div",
      { key: "plane", class: `plane ${state.ui.tool}`, data: picture, "data-rows": String(drawing.rows), hook: HOOK },
      h("canvas", { "aria-hidden": "true" }),
      h("canvas", { tabindex: "-1", role: "img", "aria-label": `map of ${count(drawing.rows)} rows, colored by ${paint.name}; the same as a table below` }),
    )),
    paint.legend(act),
    h("p", { class: "muted", key: "says" }, says(drawing, picture, answer)),
    twin(picture, answer, paint),
  ];
}

/** Buttons on the map, since not every hand has a wheel. */
function zooms() {
  const button = (text, label, change) =>
    h(
      "button",
      { key: label, type: "button", title: label, "aria-label": label, on: { click: () => change(/** @type {any} */ (document.querySelector(".plane"))?.plane) } },
      text,
    );
  return h(
    "span",
    { class: "segments icons", role: "group", "aria-label": "zoom" },
    button("+", "Zoom in", (plane) => plane?.zoom(1.6)),
    button("−", "Zoom out", (plane) => plane?.zoom(1 / 1.6)),
    button("⤢", "All rows", (plane) => plane?.fit()),
  );
}

/** The canvases are drawn by hand, not by the tree. */
const HOOK = {
  owns: true,
  mount: (el) => {
    el.plane = createPlane(el);
    el.plane.show(el._props.data);
  },
  update: (el, props) => el.plane?.show(props.data),
  unmount: (el) => el.plane?.free(),
};

/** @param {State} state @param {Dispatch} act @param {any} id */
function point(state, act, id) {
  if (state.ui.hover !== id) act({ type: "ui", hover: id });
}

/** @param {State} state @param {any} id */
function labelOf(state, id) {
  const hit = state.slots.answer?.value?.hits.find((one) => one.id === id);
  const read = state.slots.label?.value;
  return hit?.label ?? (read?.id === id ? read.label : null) ?? (id === null ? "" : `row ${id}`);
}

/** @param {State} state @param {Dispatch} act */
function tools(state, act) {
  const columns = info(state).columns.filter((c) => !["text", "name", "id"].includes(c.kind) || c.summary?.counts);
  const color = state.link.color ?? firstColor(state) ?? "";
  const tool = (name, picture, label) =>
    h(
      "button",
      { key: name, type: "button", title: label, "aria-label": label, "aria-pressed": String(state.ui.tool === name), on: { click: () => act({ type: "ui", tool: name }) } },
      icon(picture),
    );
  return h(
    "div",
    { class: "row maptools", key: "tools" },
    h(
      "label",
      null,
      "Color",
      h(
        "select",
        { value: color, "aria-label": "color by", on: { change: (event) => act({ type: "set", color: event.target.value }) } },
        columns.map((column) => h("option", { key: column.name, value: column.name }, column.name)),
        h("option", { key: "cluster", value: "cluster" }, "cluster"),
      ),
    ),
    h(
      "label",
      { title: "larger: in more rows' lists" },
      h("input", { type: "checkbox", checked: state.link.sized, on: { change: (event) => act({ type: "set", sized: event.target.checked }) } }),
      "Size by hubs",
    ),
    h("span", { class: "segments icons", role: "group", "aria-label": "what dragging does" }, tool("pan", "hand", "Move the map"), tool("lasso", "lasso", "Draw around rows (or hold shift)"), tool("box", "box", "Draw a box around rows")),
  );
}

/** @type {WeakMap<object, Map<any, number>>} */
const PLACES = new WeakMap();
/** @param {any} drawing @returns {Map<any, number>} */
function positions(drawing) {
  if (!PLACES.has(drawing)) PLACES.set(drawing, new Map(drawing.ids.map((id, i) => [id, i])));
  return /** @type {Map<any, number>} */ (PLACES.get(drawing));
}

/** Kept from call to call: a new array would be sent to the graphics card again. @type {any} */
let painted = {};

/** @param {State} state */
function colors(state) {
  const slot = state.slots.colors;
  const n = state.slots.map.value.rows;
  const value = slot?.value ?? null;
  if (painted.value !== value || painted.hidden !== state.ui.hidden || painted.n !== n) {
    painted = { value, hidden: state.ui.hidden, n, ...shades(value, n, state.ui.hidden, state.link.color ?? firstColor(state) ?? "") };
  }
  return painted;
}

/** @param {any} value @param {number} n @param {Object<string, boolean>} hidden @param {string} name */
function shades(value, n, hidden, name) {
  const rgba = new Uint8Array(4 * n).fill(200);
  const bytes = value ? readBytes(value.values) : new Uint8Array(0);
  if (!value) return { rgba, name: "nothing", textAt: () => "", legend: () => null };
  if (value.kind === "number") return numbers(rgba, new Float32Array(bytes.buffer), name);
  const labels = /** @type {string[]} */ (value.labels);
  const gap = value.gap; // what rows without a color have: a missing cell, an empty set, no cluster
  const shade = labels.map((label, i) => (label === "other" || i >= PALETTE.length ? OTHER : PALETTE[i]));
  const counts = new Array(labels.length + 1).fill(0);
  for (let i = 0; i < n; i += 1) {
    const code = Math.min(bytes[i], labels.length);
    counts[code] += 1;
    const off = hidden[labels[code] ?? gap];
    rgba.set([...rgb(shade[code] ?? "#C3C9CE"), off ? 0 : 210], 4 * i);
  }
  const entries = [...labels.map((label, i) => [label, shade[i], counts[i]]), [gap, "#C3C9CE", counts[labels.length]]];
  const legend = (act) =>
    h(
      "ul",
      { class: "legend", key: "legend", "aria-label": `colors: ${name}` },
      entries.filter(([, , many]) => many).map(([label, color, many]) =>
        h(
          "li",
          { key: label },
          h(
            "button",
            { type: "button", "aria-pressed": String(!hidden[label]), title: hidden[label] ? "Show" : "Hide", on: { click: () => act({ type: "ui", hidden: { ...hidden, [label]: !hidden[label] } }) } },
            h("i", { css: { "--c": color } }),
            label,
            h("small", null, ` ${count(many)}`),
          ),
        ),
      ),
    );
  return { rgba, name, legend, textAt: (i) => labels[bytes[i]] ?? gap };
}

/** @param {Uint8Array} rgba @param {Float32Array} values @param {string} name */
function numbers(rgba, values, name) {
  const sorted = values.filter(Number.isFinite).sort();
  const end = (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const [low, high] = [end(0.02), end(0.98)];
  for (let i = 0; i < values.length; i += 1) rgba.set([...ramp((values[i] - low) / (high - low || 1)), 210], 4 * i);
  const steps = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const legend = () =>
    h(
      "p",
      { class: "legend numbers", key: "legend" },
      cell(Number(low.toPrecision(4))),
      steps.map((t) => h("i", { key: t, css: { "--c": `rgb(${ramp(t).join(" ")})` } })),
      cell(Number(high.toPrecision(4))),
      h("small", null, ` ${name}`),
    );
  return { rgba, name, legend, textAt: (i) => cell(Number(values[i].toPrecision(4))) };
}

/** @type {any} */
let grownSizes = {};

/** @param {State} state @param {any} drawing @returns {Float32Array} */
function sizes(state, drawing) {
  const value = state.link.sized ? (state.slots.sizes?.value ?? null) : null;
  if (grownSizes.value === value && grownSizes.n === drawing.rows) return grownSizes.sizes;
  const base = drawing.rows > 20000 ? 2.6 : drawing.rows > 3000 ? 3.6 : 5;
  const made = new Float32Array(drawing.rows).fill(base);
  if (value) {
    const times = new Float32Array(readBytes(value.values).buffer);
    for (let i = 0; i < made.length; i += 1) made[i] = base * (0.5 + Math.sqrt(Math.max(times[i] || 0, 0) / 10));
  }
  grownSizes = { value, n: drawing.rows, sizes: made };
  return made;
}

/** How far hits lie from the question on the map, as a share of its width. */
function away({ map: drawing, query, hits }) {
  const span = Math.max(...["x", "y"].map((axis) => extent(drawing[axis])));
  if (query < 0) return [];
  return hits.map((i) => Math.hypot(drawing.x[i] - drawing.x[query], drawing.y[i] - drawing.y[query]) / span);
}

/** @param {Float32Array} values */
function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high - low || 1;
}

/** @param {any} drawing @param {any} picture @param {any} answer */
function says(drawing, picture, answer) {
  const trust = typeof drawing.trust === "number" ? `A flat picture of many columns, trustworthiness ${drawing.trust.toFixed(2)} (1: all rows that are close here are close in truth). ` : "";
  const some = drawing.sampled ? `${count(drawing.ids.length)} rows stand for all; neighbors that are not among them are not drawn. ` : "";
  if (!answer || picture.query < 0 || !picture.hits.length) return `${trust}${some}Click a row to search from it.`;
  const far = away(picture).filter((share) => share > FAR).length;
  const lines = "Lines join the row in question with its neighbors in the real space";
  if (!far) return `${trust}${some}${lines}; all of them lie near it here too.`;
  return `${trust}${some}${lines}; ${far} of ${picture.hits.length} ${far === 1 ? "lies" : "lie"} far away on this map: there it misleads.`;
}

/** The same for those who do not see it. @param {any} picture @param {any} answer @param {any} paint */
function twin(picture, answer, paint) {
  const far = away(picture);
  const hits = (answer?.hits ?? []).filter((one) => positions(picture.map).has(one.id));
  return h(
    "details",
    { class: "twin", key: "twin" },
    h("summary", null, "As a table"),
    h(
      "table",
      null,
      h("thead", null, h("tr", null, ["neighbor", paint.name, "away on the map"].map((text) => h("th", { key: text, scope: "col" }, text)))),
      h(
        "tbody",
        null,
        hits.map((one, i) =>
          h("tr", { key: one.id }, h("th", { scope: "row" }, one.label ?? one.id), h("td", null, paint.textAt(picture.hits[i])), h("td", null, picture.query < 0 ? "–" : percent(far[i]))),
        ),
      ),
    ),
  );
}
