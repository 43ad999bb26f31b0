// @ts-check
/** What is found while one types: a row that was described, then rows by name. */
import { info } from "../ask.js";
import { h } from "../draw/dom.js";
import { cell } from "../draw/scales.js";
import { describe } from "../read.js";

/** The list under the search box; its entries are in `data`. @param {State} state @param {Dispatch} act */
export default function suggest(state, act) {
  const list = suggestions(state);
  const at = Math.min(state.ui.suggestion, list.length - 1);
  const choose = (i) => list[i] && act({ type: "ask", query: list[i].query });
  return h("ul", { id: "suggestions", key: "list", role: "listbox", "aria-label": "rows", class: "suggestions", data: list }, options(state, list, at, choose));
}

/** @param {State} state @returns {Array<{text: string, note: string, query: any}>} */
function suggestions(state) {
  const text = state.ui.text.trim();
  const collection = info(state);
  const rows = state.slots.rows?.value?.rows ?? [];
  const shown = collection.columns.filter((column) => column.compared && ["number", "category", "date", "flag", "order"].includes(column.kind));
  const notes = (row) => shown.map((column) => [column.name, cell(row[column.name], column)]).filter(([, value]) => value !== "–");
  return [
    ...described(text, collection.columns),
    ...rows.map((row) => ({
      text: row.label ?? String(row.id),
      note: [...notes(row.row).slice(0, 2).map((pair) => pair.join(" ")), `#${row.id}`].join(" · "),
      query: { id: row.id },
    })),
  ];
}

/** @param {string} text @param {Column[]} columns */
function described(text, columns) {
  const found = describe(text, columns);
  if (!found) return [];
  const row = Object.entries(found.record).map(([name, value]) => `${name} ${cell(value)}`).join(", ");
  const note = found.unknown.length ? `left out, no such column: ${found.unknown.join(", ")}` : "describe";
  return [{ text: `a row with ${row}`, note, query: { record: found.record } }];
}

/** @param {State} state @param {any[]} list @param {number} at @param {(i: number) => void} choose */
function options(state, list, at, choose) {
  const slot = state.slots.rows;
  if (!list.length) {
    const text = slot?.status === "ready" ? "No row has this in its names or texts" : slot?.status === "error" ? slot.problem?.title : "…";
    return h("li", { key: "none", class: "muted", role: "option", "aria-disabled": "true" }, text);
  }
  return list.map((one, i) =>
    h(
      "li",
      {
        key: `${i}`,
        id: `suggestion-${i}`,
        role: "option",
        "aria-selected": String(i === at),
        on: {
          mousedown: (event) => {
            event.preventDefault(); // before the box loses its focus and the list goes
            choose(i);
          },
        },
      },
      h("span", null, one.text),
      h("small", null, one.note),
    ),
  );
}
