// @ts-check
/** The right side: tabs, and the view that is chosen. */
import { info } from "../ask.js";
import { h } from "../draw/dom.js";
import { graph } from "./graph.js";
import { hubs } from "./hubs.js";
import { map } from "./map.js";
import { set } from "./set.js";
import { bones } from "./states.js";

const VIEWS = { map, graph, hubs, set };

/** @param {State} state @param {Dispatch} act */
export function side(state, act) {
  if (!info(state)) return state.slots.info?.status === "error" ? null : bones(6);
  const { view } = state.link;
  const names = /** @type {Array<keyof typeof VIEWS>} */ (Object.keys(VIEWS));
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
    h("div", { key: view, id: "panel", class: `panel ${view}`, role: "tabpanel", "aria-labelledby": `tab-${view}` }, VIEWS[view](state, act)),
  ];
}
