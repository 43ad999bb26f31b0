// @ts-check
/** The right side: tabs, and the view that is chosen. */
import { info } from "../ask.js";
import { h } from "../draw/dom.js";
import { later } from "./later.js";
import { bones } from "./states.js";

const VIEWS = /** @type {const} */ (["map", "graph", "hubs", "clusters", "set"]);

/** @param {State} state @param {Dispatch} act */
export function side(state, act) {
  if (!info(state) || (state.ui.few && state.slots.answer?.value)) return state.slots.info?.status === "error" ? null : bones(6);
  const { view } = state.link;
  const keys = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = VIEWS[(VIEWS.indexOf(view) + step + VIEWS.length) % VIEWS.length];
    act({ type: "set", view: next });
    document.getElementById(`tab-${next}`)?.focus();
  };
  return [
    h("h2", { key: "heading", class: "unseen" }, view),
    h(
      "div",
      { class: "tabs", role: "tablist", "aria-label": "views", on: { keydown: keys } },
      VIEWS.map((name) =>
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
    h("div", { key: view, id: "panel", class: "panel", role: "tabpanel", "aria-labelledby": `tab-${view}` }, later(view, state, act)),
  ];
}
