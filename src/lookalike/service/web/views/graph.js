// @ts-check
/** Rows as nodes, nearest rows as links: it grows where it is clicked. */
import { graphRoots } from "../ask.js";
import { h } from "../draw/dom.js";
import { placeNames, settle } from "../draw/force.js";
import { count, score } from "../draw/scales.js";
import { problem, rowLink, working } from "./states.js";

/** @typedef {{id: any, label: string, occurrence: number|null, hub: boolean, orphan: boolean}} Node */
/** @typedef {{source: any, target: any, similarity: number|null, mutual: boolean}} Link */

const MOST = 200; // nodes; the oldest branches fold
const SIZE = 400;

/** @param {State} state @param {Dispatch} act */
export default function graph(state, act) {
  const roots = graphRoots(state);
  const slots = roots.map((id) => state.slots[`graph:${JSON.stringify(id)}`]);
  const failed = slots.findIndex((slot) => slot?.status === "error");
  if (failed >= 0) return problem(slots[failed].problem, act, `graph:${JSON.stringify(roots[failed])}`);
  if (!slots[0]?.value?.nodes) return h("div", { class: "plane waits" }, working(slots[0], act));
  const { nodes, links, folded } = gather(roots, slots.map((slot) => slot?.value));
  const spots = places(nodes, links, roots[0]);
  return [
    picture(state, act, nodes, links, spots, roots),
    h("p", { class: "muted", key: "says" }, "Each row with its five nearest. Click a row to see its own; click again to fold it. ", keysText(folded)),
    h("ul", { class: "legend shapes", key: "shapes" },
      h("li", null, h("i", { class: "shape hub" }), "hub: in many lists"),
      h("li", null, h("i", { class: "shape orphan" }), "orphan: in no list"),
      h("li", null, h("i", { class: "shape mutual" }), "each is in the other's list"),
      h("li", null, h("i", { class: "shape oneway" }), "one way")),
    twin(act, nodes, links),
  ];
}

/** @param {number} folded */
const keysText = (folded) => `Enter does the same, m searches from it.${folded ? ` ${folded} older branches are folded.` : ""}`;

/**
 * One graph from those of all rows that were opened; the oldest branches go first when it is full.
 *
 * @param {any[]} roots
 * @param {any[]} parts
 */
function gather(roots, parts) {
  let folded = 0;
  for (;;) {
    /** @type {Map<any, Node>} */
    const nodes = new Map();
    /** @type {Map<string, Link>} */
    const links = new Map();
    parts.forEach((part, i) => {
      if (!part || (i > 0 && i <= folded)) return;
      for (const node of part.nodes) if (!nodes.has(node.id)) nodes.set(node.id, node);
      for (const link of part.links) {
        const ends = [link.source, link.target].map((id) => JSON.stringify(id)).sort();
        const was = links.get(ends.join());
        links.set(ends.join(), was ? { ...was, mutual: was.mutual || link.mutual } : link);
      }
    });
    if (nodes.size <= MOST || folded >= roots.length - 2) return { nodes: [...nodes.values()], links: [...links.values()], folded };
    folded += 1;
  }
}

/** Where nodes stand, from one drawing to the next. @type {{key: string, center: any, spots: Map<any, any>}} */
let settled = { key: "", center: null, spots: new Map() };

/** @param {Node[]} nodes @param {Link[]} links @param {any} center */
function places(nodes, links, center) {
  const ids = nodes.map((node) => node.id);
  const key = JSON.stringify([center, ids, links.length]);
  if (settled.key !== key) {
    const known = settled.center === center ? settled.spots : new Map([[center, { x: 0, y: 0 }]]);
    settled = { key, center, spots: settle(ids, links, known, center) };
  }
  return settled.spots;
}

/** @param {State} state @param {Dispatch} act @param {Node[]} nodes @param {Link[]} links @param {Map<any, any>} spots @param {any[]} roots */
function picture(state, act, nodes, links, spots, roots) {
  const screen = fitted([...spots.entries()]);
  const grown = new Set(roots);
  const short = (one) => shorten(one.label ?? String(one.id));
  const ordered = [...nodes].sort((a, b) => Number(grown.has(b.id)) - Number(grown.has(a.id)));
  const names = placeNames(ordered.map((one) => ({ id: one.id, ...screen(one.id), width: 6.9 * short(one).length })), SIZE);
  const line = ({ source, target, mutual }) => {
    const [a, b] = [screen(source), screen(target)];
    return h("line", { key: `${source} ${target}`, class: mutual ? "mutual" : "oneway", x1: a.x.toFixed(1), y1: a.y.toFixed(1), x2: b.x.toFixed(1), y2: b.y.toFixed(1) });
  };
  const node = (one) => {
    const at = screen(one.id);
    const name = one.label ?? String(one.id);
    const kinds = ["node", one.id === roots[0] ? "center" : "", grown.has(one.id) ? "grown" : "", one.hub ? "hub" : "", one.orphan ? "orphan" : ""];
    const press = () => one.id !== roots[0] && act({ type: "grow", id: one.id });
    const keys = (event) => {
      if (event.key === "Enter" || event.key === " ") press();
      else if (event.key === "m") act({ type: "ask", query: { id: one.id } });
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    const spot = names.get(one.id) ?? (state.ui.hover === one.id ? { x: 0, y: -11 } : null);
    return h(
      "g",
      {
        key: JSON.stringify(one.id),
        class: kinds.filter(Boolean).join(" "),
        transform: `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`,
        tabindex: "0",
        role: "button",
        "aria-label": `${name}${one.hub ? ", a hub" : ""}${one.orphan ? ", an orphan" : ""}`,
        "aria-expanded": String(grown.has(one.id)),
        on: { click: press, dblclick: () => act({ type: "ask", query: { id: one.id } }), keydown: keys, mouseenter: () => act({ type: "ui", hover: one.id }), mouseleave: () => act({ type: "ui", hover: null }) },
      },
      one.hub ? h("circle", { class: "ring", r: 10 }) : null,
      h("circle", { class: "dot", r: one.id === roots[0] ? 7 : 5 }),
      spot ? h("text", { x: spot.x.toFixed(1), y: spot.y, class: "label" }, short(one)) : null,
      h("title", null, `${name}${one.occurrence === null ? "" : `: in ${count(one.occurrence)} lists`}`),
    );
  };
  return h(
    "svg",
    { key: "graph", class: "graph", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": `graph of ${nodes.length} rows` },
    h("g", null, links.map(line)),
    h("g", null, nodes.map(node)),
  );
}

/** Turn places into points of the picture, which they fill. @param {Array<[any, any]>} spots */
function fitted(spots) {
  const axis = (name, margin) => {
    const values = spots.map(([, spot]) => spot[name]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const scale = (SIZE - 2 * margin) / Math.max(high - low, 0.4);
    return (value) => SIZE / 2 + (value - (low + high) / 2) * scale;
  };
  const [x, y] = [axis("x", 44), axis("y", 30)];
  const points = new Map(spots.map(([id, spot]) => [id, { x: x(spot.x), y: y(spot.y) }]));
  return (id) => points.get(id) ?? { x: SIZE / 2, y: SIZE / 2 };
}

/** @param {string} name */
const shorten = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

/** @param {Dispatch} act @param {Node[]} nodes @param {Link[]} links */
function twin(act, nodes, links) {
  const name = new Map(nodes.map((node) => [node.id, node.label ?? String(node.id)]));
  const go = (id) => rowLink(act, { id, label: name.get(id) });
  return h(
    "details",
    { class: "twin", key: "twin" },
    h("summary", null, "As a table"),
    h(
      "table",
      null,
      h("thead", null, h("tr", null, ["row", "has as neighbor", "similarity", "mutual"].map((text) => h("th", { key: text, scope: "col" }, text)))),
      h("tbody", null, links.map((link) => h("tr", { key: `${link.source} ${link.target}` }, h("td", null, go(link.source)), h("td", null, go(link.target)), h("td", null, score(link.similarity)), h("td", null, link.mutual ? "yes" : "no")))),
    ),
  );
}
