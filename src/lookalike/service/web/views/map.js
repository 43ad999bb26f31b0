// @ts-check
/** All rows on a plane, colored by a column; the neighbors are those of the real space. */
import { readBytes } from "../api.js";
import { firstColor, info, withinIds } from "../ask.js";
import { h } from "../draw/dom.js";
import { histogram } from "../draw/histogram.js";
import { icon } from "../draw/icons.js";
import { named } from "../draw/named.js";
import { createPlane } from "../draw/plane.js";
import { OTHER, PALETTE, cell, count, percent, ramp, rgb } from "../draw/scales.js";
import { question } from "../link.js";
import { between, part } from "./filter.js";
import { problem, progress, working } from "./states.js";

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
    hoverLabel: state.ui.card ? "" : labelOf(state, hovered),
    regions: regions(state, drawing),
    poly: set && "poly" in set ? set.poly : null,
    tool: drawing.sketch ? "pan" : state.ui.tool,
    onPick: (i) => act({ type: "ask", query: { id: drawing.ids[i] } }),
    onPoint: (i) => point(state, act, i < 0 ? null : drawing.ids[i]),
    onChoose: (poly) => act({ type: "set", set: { poly }, view: "set" }),
  };
  return [
    tools(state, act, drawing.sketch),
    drawing.sketch && slot.job ? h("div", { key: "job" }, progress(slot.job, act)) : null,
    h("div", { key: "frame", class: "frame" }, zooms(), card(state, hovered), h(
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
  if (state.ui.hover !== id) act({ type: "ui", hover: id, card: id !== null });
}

const CELLS = 5; // on the card

/** What is known of the row under the pointer. @param {State} state @param {any} id */
function card(state, id) {
  const { answer, label } = state.slots;
  const read = label?.value?.id === id ? label.value : answer?.value?.hits.find((one) => one.id === id);
  if (id === null || !state.ui.card || !read) return null;
  const cells = info(state).columns.filter((column) => column.compared).slice(0, CELLS);
  return h(
    "div",
    { class: "card", key: "card" },
    h("b", null, read.label ?? `row ${id}`),
    h("small", null, ` #${id}`),
    h("dl", null, cells.map((column) => h("div", { key: column.name }, h("dt", null, column.name), h("dd", null, cell(read.row[column.name], column))))),
  );
}

/** @type {any} */
let toldRegions = {};

/** What the regions of the map are called, the largest first, no two the same. @param {State} state @param {any} drawing */
function regions(state, drawing) {
  if (toldRegions.drawing === drawing) return toldRegions.list;
  const { columns } = info(state);
  const taken = new Set();
  const list = [];
  for (const { x, y, differs } of drawing.regions ?? []) {
    const text = [1, 2, 3].map((words) => named(differs, columns, words, true)).find((one) => one && !taken.has(one));
    if (!text) continue;
    taken.add(text);
    list.push({ x, y, text });
  }
  toldRegions = { drawing, list };
  return list;
}

/** @type {any} */
let masked = {};

/** Which rows the list is made from: 1 or 0 for each; null for all. @param {State} state */
function shown(state) {
  const drawing = state.slots.map.value;
  const { filter } = question(state.link);
  const bits = Object.keys(filter).length ? (state.slots.matches?.value ?? null) : null;
  const ids = withinIds(state);
  if (!bits && !ids) return null;
  if (masked.bits === bits && masked.ids === ids && masked.drawing === drawing) return masked.list;
  const bytes = bits && readBytes(bits.values);
  const whole = bytes && bytes.length === Math.ceil(drawing.rows / 8); // not of the sketch of before
  const inside = ids && new Set(ids);
  const list = Uint8Array.from(drawing.ids, (id, i) => ((whole && !((bytes[i >> 3] >> (i & 7)) & 1)) || (inside && !inside.has(id)) ? 0 : 1));
  masked = { bits, ids, drawing, list };
  return list;
}

/** @param {State} state @param {any} id */
function labelOf(state, id) {
  const hit = state.slots.answer?.value?.hits.find((one) => one.id === id);
  const read = state.slots.label?.value;
  return hit?.label ?? (read?.id === id ? read.label : null) ?? (id === null ? "" : `row ${id}`);
}

/** @param {State} state @param {Dispatch} act @param {boolean} sketch whose places are not those of the map */
function tools(state, act, sketch) {
  const columns = info(state).columns.filter((c) => !["text", "name", "id"].includes(c.kind) || c.summary?.counts);
  const color = state.link.color ?? firstColor(state) ?? "";
  const tool = (name, picture, label) =>
    h(
      "button",
      { key: name, type: "button", title: label, "aria-label": label, "aria-pressed": String(state.ui.tool === name), disabled: sketch && name !== "pan", on: { click: () => act({ type: "ui", tool: name }) } },
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
const SEEN = 210;
const DIM = 38; // rows outside of the filter: 15 % of 255

/** @param {State} state */
function colors(state) {
  const n = state.slots.map.value.rows;
  const found = state.slots.colors?.value ?? null;
  const name = state.link.color ?? firstColor(state) ?? "";
  const mask = shown(state);
  if (painted.found !== found || painted.mask !== mask || painted.n !== n) {
    const bytes = found ? readBytes(found.values) : new Uint8Array(0);
    const value = bytes.length === n * (found?.kind === "number" ? 4 : 1) ? found : null; // not of another map
    const alpha = (i) => (mask && !mask[i] ? DIM : SEEN);
    painted = { found, mask, n, ...shades(value, bytes, n, alpha, name) };
  }
  return { ...painted, legend: (act) => painted.legend(state, act) };
}

/** @param {any} value @param {Uint8Array} bytes @param {number} n @param {(i: number) => number} alpha @param {string} name */
function shades(value, bytes, n, alpha, name) {
  const rgba = new Uint8Array(4 * n);
  if (!value) {
    for (let i = 0; i < n; i += 1) rgba.set([200, 200, 200, alpha(i)], 4 * i);
    return { rgba, name: "nothing", textAt: () => "", legend: () => null };
  }
  if (value.kind === "number") return numbers(rgba, new Float32Array(bytes.buffer), alpha, name);
  const labels = /** @type {string[]} */ (value.labels);
  const gap = value.gap; // what rows without a color have: a missing cell, an empty set, no cluster
  const shade = labels.map((label, i) => (label === "other" || i >= PALETTE.length ? OTHER : PALETTE[i]));
  const counts = new Array(labels.length + 1).fill(0);
  for (let i = 0; i < n; i += 1) {
    const code = Math.min(bytes[i], labels.length);
    counts[code] += 1;
    rgba.set([...rgb(shade[code] ?? "#C3C9CE"), alpha(i)], 4 * i);
  }
  const entries = [...labels.map((label, i) => [label, shade[i], counts[i]]), [gap, "#C3C9CE", counts[labels.length]]];
  const legend = (state, act) =>
    h(
      "ul",
      { class: "legend", key: "legend", "aria-label": `colors: ${name}` },
      entries.filter(([, , many]) => many).map(([label, color, many]) => {
        const choice = filterBy(state, name, label, value);
        const inner = [h("i", { css: { "--c": color } }), label, h("small", null, ` ${count(many)}`)];
        if (!choice) return h("li", { key: label }, h("span", null, inner));
        const title = choice.on ? "Look at the others again" : "Only these";
        return h("li", { key: label }, h("button", { type: "button", "aria-pressed": String(choice.on), title, on: { click: () => act(choice.action) } }, inner));
      }),
    );
  return { rgba, name, legend, textAt: (i) => labels[bytes[i]] ?? gap };
}

/**
 * What a click on an entry of the legend does, and whether it was done; null where rows cannot be
 * filtered by it.
 *
 * @param {State} state @param {string} name @param {string} label @param {any} value
 * @returns {{on: boolean, action: Action}|null}
 */
function filterBy(state, name, label, { labels, gap }) {
  const column = info(state).columns.find((one) => one.name === name);
  if (!column) {
    const at = /^cluster (\d+)$/.exec(label);
    if (name !== "cluster" || !at) return null;
    const on = state.link.within === Number(at[1]);
    return { on, action: { type: "set", within: on ? null : Number(at[1]) } };
  }
  const now = question(state.link).filter[name] ?? {};
  const cellOf = (text) => (column.summary?.counts ?? []).map(([one]) => one).find((one) => String(one).toLowerCase() === text.toLowerCase()) ?? text;
  const filter = (on, condition) => ({ on, action: { type: "filter", column: name, condition } });
  if (label === gap) return gap === "missing" ? filter(now["=="] === null, now["=="] === null ? null : { "==": null }) : null;
  const several = !["set", "sequence"].includes(column.kind);
  if (label === "other") {
    const on = "not in" in now;
    return several ? filter(on, on ? null : { "not in": labels.filter((one) => one !== label).map(cellOf) }) : null;
  }
  const one = cellOf(label);
  if (!several) return filter(now.contains === one, now.contains === one ? null : { contains: one });
  const chosen = now.in ?? [];
  const on = chosen.includes(one);
  const next = on ? chosen.filter((other) => other !== one) : [...chosen, one];
  return filter(on, next.length ? { in: next } : null);
}

/** @param {Uint8Array} rgba @param {Float32Array} values @param {(i: number) => number} alpha @param {string} name */
function numbers(rgba, values, alpha, name) {
  const sorted = values.filter(Number.isFinite).sort();
  const end = (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const [low, high] = [end(0.02), end(0.98)];
  const tone = (value) => ramp((value - low) / (high - low || 1));
  for (let i = 0; i < values.length; i += 1) rgba.set([...tone(values[i]), alpha(i)], 4 * i);
  const legend = (state, act) => {
    const column = info(state).columns.find((one) => one.name === name);
    const bins = column?.summary?.histogram;
    if (!bins) return h("p", { class: "legend numbers", key: "legend" }, [low, high].map((value) => cell(Number(value.toPrecision(4)))).join(" to "));
    const chosen = part(column, question(state.link).filter[name]);
    const brush = (from, to) => act({ type: "filter", column: name, condition: between(column, from, to) });
    return h(
      "div",
      { class: "legend numbers", key: "legend" },
      h("span", null, cell(column.summary.min, column)),
      histogram(bins, { label: `${name} over all rows: drag to keep a part`, logarithm: true, chosen, brush, color: (value) => `rgb(${tone(value).join(" ")})` }),
      h("span", null, cell(column.summary.max, column)),
      chosen ? h("button", { type: "button", class: "plain small", on: { click: () => act({ type: "filter", column: name, condition: null }) } }, "All") : null,
    );
  };
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
    const times = new Float32Array(readBytes(value.values).buffer); // none for a sketch of before
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
  const some = drawing.sketch ? `A sketch of ${count(drawing.rows)} rows: the whole map is being drawn. ` : drawing.sampled ? `${count(drawing.ids.length)} rows stand for all; neighbors that are not among them are not drawn. ` : "";
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
