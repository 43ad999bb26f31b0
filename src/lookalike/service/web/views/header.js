// @ts-check
/** The bar at the top: which table, the search box, the measure, the hub switch. */
import { info } from "../ask.js";
import { h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";
import { cell, count } from "../draw/scales.js";

/** @param {State} state @param {Dispatch} act */
export function header(state, act) {
  const collection = info(state);
  return [
    h("span", { class: "brand" }, "lookalike"),
    collections(state, act),
    collection ? searchBox(state, act) : h("span", { class: "searchbox" }),
    collection ? measures(state, act) : null,
    collection ? hubSwitch(state, act) : null,
    h(
      "span",
      { class: "tools" },
      button("moon", "Light or dark", () => act({ type: "theme" })),
      button("keys", "Keys (?)", () => act({ type: "ui", dialog: "keys" })),
      h("button", { class: "plain", type: "button", on: { click: () => act({ type: "share" }) } }, icon("share"), h("span", { class: "word" }, "Share")),
    ),
  ];
}

/** @param {any} name @param {string} label @param {() => void} click */
function button(name, label, click) {
  return h("button", { class: "plain square", type: "button", title: label, "aria-label": label, on: { click } }, icon(name));
}

/** @param {State} state @param {Dispatch} act */
function collections(state, act) {
  const list = state.slots.collections?.value?.collections ?? [];
  if (!list.length) return null;
  const known = list.some((one) => one.name === state.link.collection);
  return h(
    "select",
    { class: "table", "aria-label": "table", value: known ? state.link.collection : "", on: { change: (event) => act({ type: "collection", name: event.target.value }) } },
    known ? null : h("option", { key: "", value: "" }, "choose a table"),
    list.map((one) => h("option", { key: one.name, value: one.name }, one.title || one.name)),
  );
}

/** @param {State} state @param {Dispatch} act */
function measures(state, act) {
  const { measure } = info(state);
  const list = state.slots.measures?.value?.measures ?? [];
  const plain = (name) => name.toLowerCase().replaceAll("-", "");
  const known = list.find((one) => plain(one.name) === plain(measure.name));
  const now = known?.name ?? measure.name;
  const change = (event) => {
    const wanted = event.target.value;
    event.target.value = now; // it changes when the new one is ready
    act({ type: "ui", wanted, dialog: "refit" });
  };
  return h(
    "select",
    { class: "measure", "aria-label": "measure", title: `${measure.text}. ${measure.reason ?? ""}`, value: now, on: { change } },
    known ? null : h("option", { key: measure.name, value: measure.name }, measure.name),
    list.map((one) => h("option", { key: one.name, value: one.name }, one === known ? measure.name : one.name)),
  );
}

const SPACES = [
  ["plain", "plain", "distances as the measure gives them"],
  ["repaired", "reduced", "rows that are in everybody's list step back"],
];

/** Where the reduction helps, or was chosen. @param {State} state @param {Dispatch} act */
function hubSwitch(state, act) {
  const now = state.link.space;
  const helps = state.slots.hubs?.value?.reduction_helps ?? info(state)?.spaces?.reduction_helps;
  if (!helps && now === "plain") return null;
  return h(
    "span",
    { class: "segments", role: "group", "aria-label": "hubs" },
    SPACES.map(([space, name, title]) =>
      h("button", { key: space, type: "button", title, "aria-pressed": String(now === space), on: { click: () => act({ type: "set", space }) } }, name),
    ),
  );
}

/**
 * What stands under the search box: a row that was described, then rows by name.
 *
 * @param {State} state
 * @returns {Array<{text: string, note: string, query: any}>}
 */
export function suggestions(state) {
  const text = state.ui.text.trim();
  const collection = info(state);
  if (!text || !collection) return [];
  const described = describe(text, collection.columns);
  const rows = state.slots.rows?.value?.rows ?? [];
  const shown = collection.columns.filter(
    (column) => column.compared && ["number", "category", "date", "flag"].includes(column.kind),
  );
  return [
    ...(described
      ? [{ text: `a row with ${Object.entries(described).map(([k, v]) => `${k} ${cell(v)}`).join(", ")}`, note: "describe", query: { record: described } }]
      : []),
    ...rows.map((row) => ({
      text: row.label ?? String(row.id),
      note: shown.slice(0, 3).map((column) => cell(row.row[column.name], column)).filter((t) => t !== "–").join(" · "),
      query: { id: row.id },
    })),
  ];
}

/**
 * Read "year: 1990, genres: Comedy" as a record; null if it is not one.
 *
 * @param {string} text
 * @param {Column[]} columns
 */
export function describe(text, columns) {
  /** @type {Object<string, any>} */
  const record = {};
  for (const part of text.split(/[,;](?=[^,;:=]*[:=])/)) {
    const [, name, value] = /^\s*([^:=]+?)\s*[:=]\s*(.+?)\s*$/.exec(part) ?? [];
    const column = columns.find((one) => one.name.toLowerCase() === name?.toLowerCase());
    if (!column) return null;
    record[column.name] = readCell(value, column);
  }
  return Object.keys(record).length ? record : null;
}

/** A cell from what was typed. @param {string} text @param {Column} column */
export function readCell(text, column) {
  if (text === "") return null;
  if (column.kind === "number") {
    const value = Number(text.replaceAll(",", ""));
    return Number.isFinite(value) ? value : text; // the server says what is wrong with it
  }
  if (column.kind === "set" || column.kind === "sequence") return text.split(/[,|+]/).map((item) => item.trim()).filter(Boolean);
  if (["histogram", "vector", "series"].includes(column.kind)) return text.split(/[,\s]+/).map(Number);
  const counts = column.summary?.counts ?? [];
  const known = counts.find(([value]) => String(value).toLowerCase() === text.toLowerCase());
  return known ? known[0] : text;
}

/** @param {State} state @param {Dispatch} act */
function searchBox(state, act) {
  const list = suggestions(state);
  const { suggesting, suggestion, text } = state.ui;
  const open = suggesting && text.trim() !== "";
  const at = Math.min(suggestion, list.length - 1);
  const choose = (i) => list[i] && act({ type: "ask", query: list[i].query });
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && list.length) {
      event.preventDefault();
      act({ type: "ui", suggesting: true, suggestion: (at + step + list.length) % list.length });
    } else if (event.key === "Enter" && list.length) {
      choose(Math.max(at, 0));
      /** @type {HTMLElement} */ (event.target).blur();
    } else if (event.key === "Escape") {
      act({ type: "ui", text: "", suggesting: false });
      /** @type {HTMLElement} */ (event.target).blur();
    }
  };
  return h(
    "div",
    { class: "searchbox", role: "search" },
    icon("search"),
    h("input", {
      id: "search",
      type: "search",
      autocomplete: "off",
      spellcheck: "false",
      role: "combobox",
      "aria-label": "search rows by name, or describe one",
      "aria-expanded": String(open),
      "aria-controls": "suggestions",
      "aria-autocomplete": "list",
      "aria-activedescendant": open && list.length ? `suggestion-${at}` : null,
      placeholder: placeholder(info(state)),
      value: text,
      on: {
        input: (event) => act({ type: "ui", text: event.target.value, suggesting: true, suggestion: 0 }),
        focus: () => act({ type: "ui", suggesting: true }),
        blur: () => act({ type: "ui", suggesting: false }),
        keydown: keys,
      },
    }),
    h("kbd", { "aria-hidden": "true" }, "/"),
    h(
      "ul",
      { id: "suggestions", role: "listbox", "aria-label": "rows", class: open ? "suggestions" : "suggestions closed" },
      open ? options(state, list, at, choose) : null,
    ),
  );
}

/** @param {any} collection */
function placeholder(collection) {
  const [first, second] = collection.columns.filter((c) => c.compared);
  const example = [first, second]
    .filter(Boolean)
    .map((column) => `${column.name}: ${cell(column.summary?.median ?? column.summary?.counts?.[0]?.[0] ?? "…")}`);
  return `Search ${count(collection.rows)} rows, or describe one: ${example.join(", ")}`;
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
