// @ts-check
/** Every column of a hit that was opened: both cells, and what they say for and against. */
import { info } from "../ask.js";
import { curve } from "../draw/bars.js";
import { breakable, h } from "../draw/dom.js";
import { pair } from "../draw/pairs.js";
import { cell, isCurve, score } from "../draw/scales.js";

/** @param {string} text @param {() => void} click */
const press = (text, click) => h("button", { type: "button", class: "plain small", on: { click } }, text);

/** @param {State} state @param {Dispatch} act @param {Hit} one */
export default function detail(state, act, one) {
  const known = new Map(info(state).columns.map((column) => [column.name, column]));
  const parts = one.columns ?? [];
  const top = Math.max(1e-9, ...parts.map((part) => Math.max(part.plus, part.minus)));
  const amount = (value, side) =>
    h("td", { class: "amount" }, h("i", { class: side, title: score(value), css: { "--v": ((100 * value) / top).toFixed(1) } }), h("span", { class: "unseen" }, score(value)));
  const value = (content, column) =>
    h("td", { class: "cellvalue" }, isCurve(content) ? curve(content) : cell(content, column));
  return h(
    "div",
    { class: "detail" },
    h(
      "table",
      null,
      h("thead", null, h("tr", null, ["", "asked", "found", "side by side", "for", "against"].map((text) => (text ? h("th", { key: text, scope: "col" }, text) : h("td", { key: "corner" }))))),
      h(
        "tbody",
        null,
        parts.map((part) => {
          const column = known.get(part.column ?? "");
          return h(
            "tr",
            { key: part.column ?? "", title: part.text ?? "" },
            h("th", { scope: "row" }, breakable(part.column ?? "all together")),
            value(part.query, column),
            value(part.found, column),
            h("td", { class: "pair" }, column ? pair(part.query ?? null, part.found ?? null, column) : null),
            amount(part.plus, "plus"),
            amount(part.minus, "minus"),
          );
        }),
      ),
    ),
    h(
      "p",
      { class: "muted" },
      `similarity ${score(one.similarity)}, distance ${score(one.distance)}`,
      one.score !== null && one.score !== one.similarity ? `, ranked by ${score(one.score)} (with your marks)` : "",
      one.compared < one.compared_of ? `, compared in ${one.compared} of ${one.compared_of} columns: the other cells are missing` : "",
    ),
    h(
      "p",
      { class: "row" },
      press("Edit", () => act({ type: "ui", draft: { ...one.row }, was: one.row, editing: one.id, tab: "query" })),
      press("Duplicate", () => act({ type: "ui", draft: { ...one.row }, editing: null, tab: "query" })),
      press("Delete", () => act({ type: "deleteRow", id: one.id, row: one.row })),
    ),
    h("details", null, h("summary", null, "The raw record"), h("pre", { tabindex: "0" }, JSON.stringify({ id: one.id, ...one.row }, null, 1))),
  );
}
