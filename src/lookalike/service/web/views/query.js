// @ts-check
/** The row in question: every compared column with its value, its weight and its filter. */
import { info, weighable } from "../ask.js";
import { curve } from "../draw/bars.js";
import { breakable, h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";
import { cell, isCurve, percent } from "../draw/scales.js";
import { question } from "../link.js";
import { firstCondition } from "./filter.js";
import { beside } from "./hit.js";
import { later } from "./later.js";
import { bones } from "./states.js";

const MANY = 14; // columns from which on a box helps to find one
const LONG = 18; // letters of a name that needs a line of its own

/** @param {State} state @param {Dispatch} act */
export function query(state, act) {
  if (state.slots.info?.status === "error" && !state.slots.info.value) return null; // said in the middle
  const collection = info(state);
  if (!collection) return bones(8);
  if (state.ui.draft) return later("form", state, act);
  const answer = state.slots.answer?.value;
  const asked = answer?.query;
  const compared = collection.columns.filter((c) => c.compared);
  const others = collection.columns.filter((c) => !c.compared);
  return [
    h("h2", null, state.link.query && "record" in state.link.query ? "Like this new row" : "Like this one"),
    asked ? [h("p", { class: "title" }, asked.label ?? "A new row"), h("small", { class: "beside" }, beside(state, asked))] : bones(1),
    compared.length > MANY ? columnBox(state, act) : null,
    h("div", { class: compared.some((c) => c.name.length > LONG) ? "cells long" : "cells" }, compared.filter(named(state)).map((column) => line(state, act, column, asked?.row))),
    h(
      "p",
      { class: "row" },
      asked?.id === null ? null : h("button", { type: "button", class: "plain", on: { click: () => act({ type: "ui", draft: { ...asked?.row }, was: asked?.row, editing: asked?.id ?? null }) } }, "Edit"),
      h("button", { type: "button", class: "plain", on: { click: () => act({ type: "ui", draft: { ...asked?.row }, editing: null }) } }, "Edit as a new row"),
    ),
    h("p", { class: "muted" }, hint(state)),
    others.length ? aside(others, asked?.row) : null,
  ];
}

/** @param {State} state */
function hint(state) {
  if (weighable(state)) return "What matters to you? Drag a slider: 0 leaves a column out. The list follows.";
  if (state.link.space === "repaired") {
    return "The reduced space was learned with all columns as they are: switch to plain to weigh them.";
  }
  return "This measure learned its own weights, so columns cannot be weighed here.";
}

/** @param {State} state */
const named = (state) => (column) =>
  column.name.toLowerCase().includes(state.ui.columnText.trim().toLowerCase());

/** @param {State} state @param {Dispatch} act */
function columnBox(state, act) {
  return h("input", {
    class: "columnbox",
    type: "search",
    "aria-label": "find a column",
    placeholder: "Find a column",
    value: state.ui.columnText,
    on: { input: (event) => act({ type: "ui", columnText: event.target.value }) },
  });
}

/** @param {State} state @param {Dispatch} act @param {Column} column @param {any} row */
function line(state, act, column, row) {
  const { weights, filter } = question(state.link);
  const weight = weights[column.name] ?? 1;
  const value = row?.[column.name];
  const condition = filter[column.name];
  const about = `${column.kind}: ${column.reason}${column.gaps ? `; ${percent(column.gaps)} missing` : ""}${column.note ? `; ${column.note}` : ""}`;
  const first = condition ? null : firstCondition(value, column);
  return h(
    "div",
    { key: column.name, class: `cell${weight === 0 && weighable(state) ? " off" : ""}` },
    h("span", { class: "name", tabindex: "0", "data-about": about, "aria-label": `${column.name}, ${about}` }, breakable(column.name), h("small", null, column.kind)),
    h("span", { class: "value", title: cell(value, column) }, row === undefined ? "" : isCurve(value) ? curve(value) : cell(value, column)),
    slider(state, act, column.name, weight),
    h(
      "button",
      {
        type: "button",
        class: "only",
        "aria-pressed": String(Boolean(condition)),
        disabled: !condition && !first,
        title: condition ? "Drop this filter" : `Only rows with such a ${column.name}`,
        "aria-label": `filter by ${column.name}`,
        on: { click: () => act({ type: "filter", column: column.name, condition: condition ? null : first }) },
      },
      icon("filter"),
    ),
    condition ? later("editor", state, act, column, condition) : null,
  );
}

/** @param {State} state @param {Dispatch} act @param {string} name @param {number} weight */
function slider(state, act, name, weight) {
  const can = weighable(state);
  return h(
    "label",
    { class: "weight", title: `how much ${name} matters` },
    h("input", {
      type: "range",
      min: "0",
      max: "4",
      step: "0.5",
      value: String(can ? weight : 1),
      disabled: !can,
      "aria-label": `weight of ${name}`,
      "aria-valuetext": `times ${weight}`,
      on: { input: (event) => act({ type: "weight", column: name, value: Number(event.target.value) }) },
    }),
    h("output", null, can ? `×${weight}` : ""),
  );
}

/** Columns that do not count: what they hold, and why they are left out. */
function aside(columns, row) {
  return h(
    "details",
    { class: "aside" },
    h("summary", null, `${columns.length} not compared`),
    columns.map((column) =>
      h(
        "p",
        { key: column.name },
        h("strong", null, column.name),
        ` ${cell(row?.[column.name], column)} `,
        h("small", null, column.reason),
      ),
    ),
  );
}
