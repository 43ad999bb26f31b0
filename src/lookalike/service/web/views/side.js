// @ts-check
/** The right side: tabs, and the view that is chosen. */
import { info } from "../ask.js";
import { h } from "../draw/dom.js";
import { bones } from "./states.js";

/** Views come when they are looked at: the first list does not wait for them. */
const PARTS = {
  map: () => import("./map.js"),
  graph: () => import("./graph.js"),
  hubs: () => import("./hubs.js"),
  set: () => import("./set.js"),
};
/** @type {Object<string, (state: State, act: Dispatch) => any>} */
const VIEWS = {};

/** Bring the code of a view. @param {Link["view"]} name @returns {Promise<void>|null} null: it is there */
export function bring(name) {
  if (name in VIEWS) return null;
  return PARTS[name]().then((module) => {
    VIEWS[name] = module.default;
  });
}

/** @param {State} state @param {Dispatch} act */
export function side(state, act) {
  if (!info(state)) return state.slots.info?.status === "error" ? null : bones(6);
  const { view } = state.link;
  const names = /** @type {Link["view"][]} */ (Object.keys(PARTS));
  const keys = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = names[(names.indexOf(view) + step + names.length) % names.length];
    act({ type: "set", view: next });
    document.getElementById(`tab-${next}`)?.focus();
  };
  return [
    h(
      "div",
      { class: "tabs", role: "tablist", "aria-label": "views", on: { keydown: keys } },
      names.map((name) =>
        h(
          "button",
          {
            key: name,
            id: `tab-${name}`,
            type: "button",
            role: "tab",
            "aria-selected": String(view === name),
            "aria-controls": "panel",
            tabindex: view === name ? "0" : "-1",
            on: { click: () => act({ type: "set", view: name }) },
          },
          name,
        ),
      ),
    ),
    h("div", { key: view, id: "panel", class: "panel", role: "tabpanel", "aria-labelledby": `tab-${view}` }, VIEWS[view]?.(state, act) ?? bones(6)),
  ];
}
