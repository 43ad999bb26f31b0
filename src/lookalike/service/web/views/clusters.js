// @ts-check
/** Groups of rows: how many, what sets each apart, typical and borderline rows, what to do with them. */
import { info } from "../ask.js";
import { breakable, h } from "../draw/dom.js";
import { named } from "../draw/named.js";
import { OTHER, PALETTE, count, counted } from "../draw/scales.js";
import { problem, rowLink, working } from "./states.js";

const MOST = 12; // groups in the menu

/** @param {State} state @param {Dispatch} act */
export default function clusters(state, act) {
  const slot = state.slots.clusters;
  const { groups } = state.link;
  const value = slot?.value;
  const here = value?.clusters && slot?.status !== "error";
  return [
    h(
      "div",
      { class: "row", key: "tools" },
      h(
        "label",
        null,
        "Groups ",
        h(
          "select",
          { "aria-label": "number of groups", value: String(groups ?? "auto"), on: { change: ({ target }) => act({ type: "set", groups: target.value === "auto" ? null : Number(target.value), within: null }) } },
          h("option", { key: "auto", value: "auto" }, here && groups === null ? `auto (${value.clusters.length})` : "auto"),
          Array.from({ length: MOST - 1 }, (_, i) => h("option", { key: i, value: String(i + 2) }, i + 2)),
        ),
      ),
      here ? press("Color the map", () => act({ type: "set", view: "map", color: "cluster" })) : null,
      here ? press("Export labels", () => act({ type: "exportLabels", form: "csv" })) : null,
    ),
    slot?.status === "error" ? problem(slot.problem, act, "clusters") : null,
    slot?.status === "job" || !value?.clusters ? working(slot, act) : null,
    here && value.note ? h("details", { class: "muted", key: "note" }, h("summary", null, "How well they hold together"), value.note) : null,
    here ? h("ol", { class: "clusters", key: "list" }, value.clusters.slice(0, 100).map((one) => group(state, act, one, value))) : null,
  ];
}

/** @param {string} text @param {() => void} click @param {boolean} [on] */
const press = (text, click, on) => h("button", { key: text, type: "button", class: "plain small", "aria-pressed": on === undefined ? null : String(on), on: { click } }, text);

/** @param {State} state @param {Dispatch} act @param {any} one @param {any} value */
function group(state, act, one, value) {
  const { within } = state.link;
  const most = Math.max(...value.clusters.map(({ size }) => size));
  const go = (row) => rowLink(act, row);
  const ids = () => value.ids.filter((_, i) => value.labels[i] === one.cluster);
  return h(
    "li",
    { key: one.cluster, class: within === one.cluster ? "on" : "" },
    h("i", { class: "swatch", css: { "--c": shade(value, one) } }),
    h("h3", null, breakable(`${one.cluster + 1} · ${named(one.differs, info(state).columns) || "like all others"}`)),
    h("span", { class: "occurs", title: counted(one.size, "row") }, h("i", { css: { "--v": ((100 * one.size) / most).toFixed(1) } }), count(one.size)),
    h("p", null, breakable(one.differs.slice(0, 3).map((each) => each.text).join(" · ") || "like all other rows")),
    h("p", { class: "muted" }, "typical ", one.label_rows.slice(0, 3).map(go), one.borderline?.length ? [" borderline ", one.borderline.slice(0, 1).map(go)] : null),
    h(
      "p",
      { class: "row" },
      press("Filter the list", () => act({ type: "set", within: within === one.cluster ? null : one.cluster }), within === one.cluster),
      press("Use as set", () => act({ type: "set", view: "set", set: { ids: ids() } })),
    ),
  );
}

/** The color that the map gives a cluster: the largest first. @param {any} value @param {any} one */
function shade(value, one) {
  const order = value.clusters.map(({ cluster, size }) => [size, `cluster ${cluster}`, cluster]).sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? -1 : 1));
  return PALETTE[order.findIndex(([, , cluster]) => cluster === one.cluster)] ?? OTHER;
}
