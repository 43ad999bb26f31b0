// @ts-check
/** A new row to search by: the one in question as a form, with inputs by kind; gaps are allowed. */
import { info } from "../ask.js";
import { breakable, h } from "../draw/dom.js";
import { histogram } from "../draw/histogram.js";
import { cell, place, ranged } from "../draw/scales.js";
import { readCell } from "../read.js";

const LONG = 60; // letters of a text that needs more than a line

/** @param {State} state @param {Dispatch} act */
export default function form(state, act) {
  const { editing, was } = state.ui;
  const draft = state.ui.draft ?? {};
  const collection = info(state);
  const names = collection.columns.filter((column) => !column.compared);
  const columns = collection.columns.filter((column) => column.compared);
  const label = names.filter((column) => column.name === collection.label_column);
  const others = names.filter((column) => column.name !== collection.label_column);
  const put = (name, value) =>
    act({ type: "ui", draft: { ...draft, [name]: value } });
  const lines = (list) => list.map((column) => field(column, draft[column.name], put, editing === null ? undefined : (was?.[column.name] ?? null)));
  const submit = (event) => {
    event.preventDefault();
    const cells = columns.map((column) => {
      const value = draft[column.name];
      return [column.name, typeof value === "string" ? readCell(value, column) : value];
    });
    const given = cells.filter(([, value]) => value !== null && value !== undefined);
    act({ type: "ask", query: { record: Object.fromEntries(given) } });
  };
  const save = (id) => () => act({ type: "saveRow", id });
  const title = editing === null ? "A new row" : `Edit #${editing}`;
  return h(
    "form",
    { class: "form", "aria-label": title.toLowerCase(), on: { submit } },
    h("h2", null, title),
    h("p", { class: "muted" }, "Leave empty what you do not know: missing cells are not compared."),
    lines(label),
    lines(columns),
    others.length ? h("details", null, h("summary", null, `${others.length} more, not compared`), lines(others)) : null,
    h(
      "p",
      { class: "row sticky" },
      editing === null ? h("button", { key: "find", type: "submit", class: "strong" }, "Find rows like it") : h("button", { key: "save", type: "button", class: "strong", on: { click: save(editing) } }, "Save changes"),
      h("button", { key: "new", type: "button", on: { click: save(null) } }, "Save as new row"),
      editing === null ? null : h("button", { key: "try", type: "submit", class: "plain" }, "Find rows like it"),
      h("button", { key: "cancel", type: "button", class: "plain", on: { click: () => act({ type: "ui", draft: null, editing: null }) } }, "Cancel"),
    ),
  );
}

/** @param {Column} column @param {any} value @param {(name: string, value: any) => void} put @param {any} before undefined in a new row */
function field(column, value, put, before) {
  const counts = column.summary?.counts;
  let input;
  if (column.kind === "set" && counts) input = chips(column, value, put);
  else if (counts && column.summary.distinct <= 20) input = choice(column, value, put);
  else input = box(column, value, put);
  const changed = before !== undefined && JSON.stringify(before) !== JSON.stringify(value ?? null);
  return h(
    "div",
    { key: column.name, class: changed ? "field changed" : "field" },
    h("span", { class: "name" }, breakable(column.name), h("small", null, column.kind)),
    input,
    changed ? h("small", { class: "before" }, `was ${before === null ? "missing" : cell(before, column)} · `, h("button", { type: "button", class: "link", "aria-label": `put ${column.name} back`, on: { click: () => put(column.name, before) } }, "put back")) : null,
  );
}

/** @param {Column} column @param {any} value @param {(name: string, value: any) => void} put */
function box(column, value, put) {
  const range = ranged(column);
  const number = range && typeof column.summary.min === "number";
  const date = range && !number;
  if (column.kind === "text" && String(value ?? "").length > LONG) {
    return h("textarea", { "aria-label": column.name, rows: "3", value: value ?? "", on: { input: ({ target }) => put(column.name, target.value === "" ? null : target.value) } });
  }
  const shown = date ? String(value ?? "").slice(0, 10) : Array.isArray(value) ? value.map((one) => (typeof one === "number" ? +one.toPrecision(4) : one)).join(", ") : (value ?? "");
  return h(
    "span",
    { class: "box" },
    range ? histogram(column.summary.histogram, { label: `${column.name} over all rows`, at: place(value, column), logarithm: true }) : null,
    h("input", {
      type: number ? "number" : date ? "date" : "text",
      step: number ? "any" : null,
      "aria-label": column.name,
      placeholder: number ? `${cell(column.summary.min, column)} to ${cell(column.summary.max, column)}` : "missing",
      value: shown,
      // What is typed stays as it is typed, and is read when the form is sent.
      on: { input: ({ target }) => put(column.name, target.value === "" ? null : number ? Number(target.value) : target.value) },
    }),
  );
}

/** @param {Column} column @param {any} value @param {(name: string, value: any) => void} put */
function choice(column, value, put) {
  const counts = column.summary.counts;
  const at = counts.findIndex(([one]) => one === value);
  return h(
    "select",
    {
      "aria-label": column.name,
      value: String(at),
      on: { change: (event) => put(column.name, counts[Number(event.target.value)]?.[0] ?? null) },
    },
    h("option", { key: "gap", value: "-1" }, "missing"),
    counts.map(([one, n], i) => h("option", { key: i, value: String(i) }, `${cell(one)} (${n})`)),
  );
}

/** @param {Column} column @param {any} value @param {(name: string, value: any) => void} put */
function chips(column, value, put) {
  const chosen = Array.isArray(value) ? value : [];
  const known = column.summary.counts.map(([item]) => item);
  const items = [...new Set([...known, ...chosen])];
  return h(
    "span",
    { class: "values" },
    items.map((item) => {
      const on = chosen.includes(item);
      const next = on ? chosen.filter((other) => other !== item) : [...chosen, item];
      return h(
        "button",
        { key: String(item), type: "button", class: "chip", "aria-pressed": String(on), on: { click: () => put(column.name, next.length ? next : null) } },
        cell(item),
      );
    }),
  );
}
