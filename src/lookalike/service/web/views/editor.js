// @ts-check
/** Conditions on one column: a range, some of its values, an item, a word. */
import { h } from "../draw/dom.js";
import { histogram } from "../draw/histogram.js";
import { cell, condition as words, ranged } from "../draw/scales.js";
import { between, part } from "./filter.js";

/** @param {State} _state @param {Dispatch} act @param {Column} column @param {Object<string, any>} condition */
export default function editor(_state, act, column, condition) {
  const change = (next) => act({ type: "filter", column: column.name, condition: next });
  let inner;
  if (["!=", "==", "not in"].some((op) => op in condition)) {
    inner = h("span", { class: "muted" }, words(column.name, condition, column));
  } else if (ranged(column)) inner = rangeEditor(column, condition, change);
  else if (column.kind === "text") inner = wordEditor(column, condition, change);
  else inner = valueEditor(column, condition, change);
  return h("div", { class: "condition", role: "group", "aria-label": `filter by ${column.name}` }, inner);
}

/** @param {Column} column @param {any} condition @param {(next: any) => void} change */
function rangeEditor(column, condition, change) {
  const date = typeof column.summary.min === "string";
  const end = (op, label) =>
    h("input", {
      type: date ? "date" : "number",
      step: date ? null : "any",
      "aria-label": `${column.name} ${label}`,
      value: date ? String(condition[op] ?? "").slice(0, 10) : (condition[op] ?? ""),
      on: {
        change: (event) => {
          const next = { ...condition };
          if (event.target.value === "") delete next[op];
          else next[op] = date ? event.target.value : Number(event.target.value);
          change(Object.keys(next).length ? next : null);
        },
      },
    });
  const label = `${column.name} over all rows`;
  return [
    histogram(column.summary.histogram, { label, logarithm: true, chosen: part(column, condition), brush: (from, to) => change(between(column, from, to)) }),
    h("span", { class: "row" }, end(">=", "at least"), "to", end("<=", "at most")),
  ];
}

/** @param {Column} column @param {any} condition @param {(next: any) => void} change */
function wordEditor(column, condition, change) {
  return h("input", {
    type: "text",
    "aria-label": `${column.name} has the word`,
    value: condition.contains ?? "",
    on: { change: (event) => change(event.target.value ? { contains: event.target.value } : null) },
  });
}

/** Values as buttons: several for a category (any of them), one for a set (it is in it). */
function valueEditor(column, condition, change) {
  const several = "in" in condition;
  const chosen = several ? condition.in : [condition.contains];
  const counts = column.summary?.counts ?? [];
  const known = counts.map(([value]) => value);
  const values = [...chosen.filter((v) => !known.includes(v)).map((v) => [v, null]), ...counts];
  return h(
    "span",
    { class: "values" },
    values.map(([value, n]) => {
      const on = chosen.includes(value);
      const next = several
        ? { in: on ? chosen.filter((v) => v !== value) : [...chosen, value] }
        : { contains: value };
      const empty = several ? next.in.length === 0 : on;
      return h(
        "button",
        { key: String(value), type: "button", class: "chip", "aria-pressed": String(on), on: { click: () => change(empty ? null : next) } },
        cell(value),
        n === null ? null : h("small", null, ` ${n}`),
      );
    }),
  );
}
