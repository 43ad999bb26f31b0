// @ts-check
/** Who is in everybody's list, who is in nobody's, before and after hubness is reduced. */
import { h } from "../draw/dom.js";
import { histogram } from "../draw/histogram.js";
import { count, percent } from "../draw/scales.js";
import { bones, problem, rowLink, working } from "./states.js";

/** @param {State} state @param {Dispatch} act */
export default function hubs(state, act) {
  const slot = state.slots.hubs;
  if (slot?.status === "error") return problem(slot.problem, act, "hubs");
  if (!slot?.value?.plain) return working(slot, act);
  const { k, rows, sampled, sentence, plain, repaired, reduction_helps: helps } = slot.value;
  const shown = state.link.space === "repaired" && repaired ? repaired : plain;
  return [
    h("p", { class: "sentence" }, sentence),
    h(
      "div",
      { class: "beforeafter", key: "charts" },
      chart("plain", plain, k, state.link.space === "plain"),
      repaired ? chart("reduced", repaired, k, state.link.space === "repaired") : helps ? later(act) : null,
    ),
    sampled ? h("p", { class: "muted", key: "sampled" }, `Counted on a sample of ${count(rows)} rows.`) : null,
    h("h3", { key: "tops" }, "In most lists"),
    h("ol", { class: "tops", key: "top" }, shown.top.map((one) => top(state, act, one, shown))),
    h("h3", { key: "orphanhead" }, `In no list: ${count(shown.unreachable)} rows (${percent(shown.unreachable_share)})`),
    h("p", { class: "muted", key: "what" }, shown.orphans.length ? `No search for ${k} rows ever shows these. Browse them here:` : "Every row is in a list."),
    h("ul", { class: "orphans", key: "orphans" }, shown.orphans.map((one) => h("li", { key: one.id }, rowLink(act, one)))),
    shown.drawn ? h("p", { class: "muted drawn", key: "drawn" }, shown.drawn, wider(state, act)) : null,
  ];
}

/** Lists by chance, which reach rows that no list of the nearest shows. @param {State} state @param {Dispatch} act */
function wider(state, act) {
  const change = ({ target }) => act({ type: "set", wide: target.checked });
  return h("label", null, h("input", { type: "checkbox", checked: state.link.wide, on: { change } }), "Draw my lists from twice as many");
}

/** @param {string} name @param {any} side @param {number} k @param {boolean} on */
function chart(name, side, k, on) {
  const label = `${name}: how many rows are in how many lists`;
  const fact = (term, text, title) => h("div", { key: term, title }, h("dt", null, term), h("dd", null, text));
  const { edges } = side.histogram;
  return h(
    "figure",
    { key: name, class: on ? "on" : "" },
    h("figcaption", null, name),
    histogram(side.histogram, { label, logarithm: true }),
    h("p", { class: "axis" }, h("span", null, count(edges[0])), h("span", null, "lists a row is in"), h("span", null, count(edges.at(-1)))),
    h(
      "dl",
      null,
      fact("largest", `${count(side.largest)} lists`, `an even share would be ${k}`),
      fact("in no list", percent(side.unreachable_share), "rows that no search shows"),
      fact("skewness", side.skewness.toFixed(2), "0: lists are shared evenly; above 1: a few rows fill many lists"),
    ),
  );
}

/** @param {Dispatch} act */
function later(act) {
  return h(
    "figure",
    { key: "later" },
    h("figcaption", null, "reduced"),
    h("p", { class: "muted" }, "Not made yet."),
    h("button", { type: "button", on: { click: () => act({ type: "set", space: "repaired" }) } }, "Reduce hubness"),
  );
}

/** @param {State} state @param {Dispatch} act @param {any} one @param {any} shown */
function top(state, act, one, shown) {
  const open = state.link.who === one.id;
  const slot = state.slots.who;
  const most = shown.top[0]?.occurrence || 1;
  return h(
    "li",
    { key: one.id },
    rowLink(act, one),
    h("span", { class: "occurs", title: `in ${one.occurrence} lists` }, h("i", { css: { "--v": ((100 * one.occurrence) / most).toFixed(1) } }), count(one.occurrence)),
    h("button", { type: "button", class: "plain small", "aria-expanded": String(open), on: { click: () => act({ type: "set", who: open ? null : one.id }) } }, "who shows it"),
    open ? lists(act, slot, one.id) : null,
  );
}

/** @param {Dispatch} act @param {any} slot @param {any} id */
function lists(act, slot, id) {
  if (slot?.status === "error") return problem(slot.problem, act, "who");
  if (slot?.value?.id !== id) return bones(2);
  return h("ul", { class: "shownby" }, slot.value.shown_by.map((one) => h("li", { key: one.id }, rowLink(act, one), h("small", null, ` at rank ${one.rank}`))));
}
