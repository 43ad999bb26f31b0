// @ts-check
/** What a phone shows: one part of the page, and which. */
import { info } from "../ask.js";
import { h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";

const TABS = /** @type {const} */ ([["results", "list", "Results"], ["view", "map", "Map"], ["query", "sliders", "Query"]]);

/** @param {State} state @param {Dispatch} act */
export function tabs(state, act) {
  if (!info(state) || state.link.sheet) return null;
  return TABS.map(([tab, picture, text]) =>
    h(
      "button",
      { key: tab, type: "button", "aria-current": state.ui.tab === tab ? "page" : null, on: { click: () => act({ type: "ui", tab }) } },
      icon(picture),
      text,
    ),
  );
}
