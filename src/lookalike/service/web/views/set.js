// @ts-check
/** Some rows that were chosen: what makes them different from the rest. */
import { chosenIds, info } from "../ask.js";
import { h } from "../draw/dom.js";
import { cell, count, counted, percent } from "../draw/scales.js";
import { problem, rowLink, working } from "./states.js";

/** @param {State} state @param {Dispatch} act */
export default function set(state, act) {
  if (!state.link.set) return none(act);
  const ids = chosenIds(state);
  const slot = state.slots.profile;
  if (ids === null) return working(state.slots.map, act);
  if (!ids.length) return [h("p", { class: "empty" }, "There is no row within this line."), none(act)];
  if (slot?.status === "error") return problem(slot.problem, act, "profile");
  if (slot?.status !== "ready") return working(slot, act);
  const { size, rest, sampled, differs, typical } = slot.value;
  const others = sampled ? `${count(rest)} rows that stand for all others` : `the other ${count(rest + size - ids.length)}`;
  const known = new Map(info(state).columns.map((column) => [column.name, column]));
  return [
    h("p", { class: "sentence" }, `${counted(ids.length, "row")} chosen${size < ids.length ? `, of which ${count(size)} were looked at` : ""}. What sets them apart from ${others}, strongest first:`),
    differs.length
      ? h("ol", { class: "differs", key: "differs" }, differs.map((one) => difference(one, known.get(one.column), differs[0].score)))
      : h("p", { class: "empty", key: "same" }, rest ? "Nothing: they are like the rest in every column." : "All rows were chosen: there is no rest to compare them with."),
    h("h3", { key: "typicals" }, "Typical of them"),
    h(
      "ul",
      { class: "orphans", key: "typical" },
      typical.map((one) => h("li", { key: one.id }, rowLink(act, one))),
    ),
    h(
      "p",
      { class: "row", key: "acts" },
      h("button", { type: "button", "aria-pressed": String(state.link.within === "set"), on: { click: () => act({ type: "set", within: state.link.within === "set" ? null : "set" }) } }, "Filter the list"),
      h("button", { type: "button", class: "plain", on: { click: () => act({ type: "exportSet", form: "csv" }) } }, "Export CSV"),
      h("button", { type: "button", class: "plain", on: { click: () => act({ type: "exportSet", form: "json" }) } }, "Export JSON"),
      h("button", { type: "button", class: "plain", on: { click: () => act({ type: "set", set: null, within: null }) } }, "Choose others"),
    ),
  ];
}

/** @param {Dispatch} act */
function none(act) {
  const choose = (tool) => () => {
    act({ type: "ui", tool });
    act({ type: "set", view: "map", set: null });
  };
  return h(
    "div",
    { class: "empty" },
    h("p", null, "Draw around rows on the map to see what makes them different from the rest."),
    h("p", { class: "row" }, h("button", { type: "button", on: { click: choose("lasso") } }, "Draw a lasso"), h("button", { type: "button", on: { click: choose("box") } }, "Draw a box")),
  );
}

/** @param {any} one @param {any} column @param {number} most */
function difference(one, column, most) {
  const shared = one.what === "share" || one.what === "missing";
  const text = (value) => (shared && typeof value === "number" ? percent(value) : cell(typeof value === "number" ? Number(value.toPrecision(4)) : value, column));
  const what = one.what === "share" ? cell(one.value, column) : (one.what ?? "");
  return h(
    "li",
    { key: one.column, title: one.text },
    h("span", { class: "name" }, one.column, h("small", null, one.kind)),
    h("span", { class: "sides" }, `${what} `, h("b", null, text(one.inside)), " against ", text(one.outside)),
    h("i", { class: "strength", css: { "--v": ((100 * one.score) / (most || 1)).toFixed(1) } }),
  );
}
