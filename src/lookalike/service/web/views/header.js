// @ts-check
/** The bar at the top: which table, the search box, the measure, the hub switch. */
import { info, ways } from "../ask.js";
import { h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";
import { cell, count } from "../draw/scales.js";
import { later } from "./later.js";

/** @param {State} state @param {Dispatch} act */
export function header(state, act) {
  const list = info(state) && !state.link.sheet; // is there a list to change?
  return [
    h("h1", { class: "brand" }, "lookalike"),
    collections(state, act),
    list ? searchBox(state, act) : h("span", { class: "searchbox" }),
    list ? measures(state, act) : null,
    list ? hubSwitch(state, act) : null,
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
  const change = ({ target }) => {
    const { value } = target; // no table has a name with a plus
    if (value[0] === "+") act({ type: "sheet", name: value.slice(1) });
    else act({ type: "collection", name: value });
    if (value === "+columns" || value === "+review") target.value = state.link.collection;
  };
  return h(
    "select",
    { class: "table", "aria-label": "table", value: state.link.sheet === "new" ? "+new" : known ? state.link.collection : "", on: { change } },
    known ? null : h("option", { key: "", value: "" }, "choose a table"),
    list.map((one) => h("option", { key: one.name, value: one.name }, one.title || one.name)),
    h("hr", { key: "line" }),
    known ? h("option", { key: "+columns", value: "+columns" }, "columns of this table …") : null,
    known ? h("option", { key: "+review", value: "+review" }, "doubles of this table …") : null,
    h("option", { key: "+new", value: "+new" }, "+ table"),
  );
}

/** How rows are compared: what is chosen here is tried in this link alone. @param {State} state @param {Dispatch} act */
function measures(state, act) {
  const { measure } = info(state);
  const own = measure.asked ?? "auto";
  const { plain, more } = ways(state);
  const now = state.link.measure ?? own;
  const title = (name) => [...plain, ...more].find((one) => one.name === name)?.title ?? (name === own ? measure.words : name);
  const ask = () => state.ui.asking || act({ type: "ui", asking: true });
  const option = ({ name }) => h("option", { key: name, value: name }, title(name));
  const change = ({ target }) => {
    if (target.value === "+side") act({ type: "sheet", name: "measures" });
    else act({ type: "set", measure: target.value === own ? null : target.value, space: "plain" });
    if (target.value === "+side") target.value = now;
  };
  const others = plain.filter(({ name, measure: of }) => of && name !== own && name !== now);
  const rest = more.filter(({ name }) => name !== own && name !== now);
  return h(
    "select",
    { class: "measure", "aria-label": "measure", title: now === own ? `${measure.text}. ${measure.reason ?? ""}` : now, value: now, on: { change, focus: ask, pointerenter: ask } },
    [...new Set([own, now])].map((name) => option({ name })),
    others.map(option),
    rest.length ? h("optgroup", { key: "more", label: "more" }, rest.map(option)) : null,
    h("hr", { key: "line" }),
    h("option", { key: "+side", value: "+side" }, "compare side by side …"),
  );
}

const SPACES = [
  ["plain", "plain", "distances as the measure gives them"],
  ["repaired", "reduced", "rows that are in very many lists step back"],
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

/** @param {State} state @param {Dispatch} act */
function searchBox(state, act) {
  const { suggesting, suggestion, text, entered } = state.ui;
  const open = suggesting && text.trim() !== "";
  const shown = open ? later("suggest", state, act) : null;
  const list = shown?.props.data ?? [];
  const at = Math.min(suggestion, list.length - 1);
  const choose = (i) => list[i] && act({ type: "ask", query: list[i].query });
  // Enter may come before the list, whose part of the page is loaded at the first letter.
  if (entered && list.length) {
    queueMicrotask(() => {
      choose(0);
      document.getElementById("search")?.blur();
    });
  }
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && list.length) {
      event.preventDefault();
      act({ type: "ui", suggesting: true, suggestion: (at + step + list.length) % list.length });
    } else if (event.key === "Enter" && list.length) {
      choose(Math.max(at, 0));
      /** @type {HTMLElement} */ (event.target).blur();
    } else if (event.key === "Enter" && open) {
      act({ type: "ui", entered: true });
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
      "aria-controls": open ? "suggestions" : null,
      "aria-autocomplete": "list",
      "aria-activedescendant": open && list.length ? `suggestion-${at}` : null,
      placeholder: placeholder(info(state)),
      value: text,
      on: {
        input: (event) => act({ type: "ui", text: event.target.value, suggesting: true, suggestion: 0, entered: false }),
        focus: () => act({ type: "ui", suggesting: true, entered: false }),
        blur: () => act({ type: "ui", suggesting: false }),
        keydown: keys,
      },
    }),
    h("kbd", { "aria-hidden": "true" }, "/"),
    shown,
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
