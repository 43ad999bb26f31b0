// @ts-check
/** Shown in the middle when there is no table to look at. */
import { h } from "../draw/dom.js";
import { count } from "../draw/scales.js";
import { problem } from "./states.js";

/** @param {State} state @param {Dispatch} act */
export default function welcome(state, act) {
  const slot = state.slots.collections;
  if (slot?.status === "error" && !slot.value) return problem(slot.problem, act, "collections");
  const list = slot?.value?.collections;
  if (list && !list.length) {
    return h(
      "div",
      { class: "welcome" },
      h("h2", null, "No table yet"),
      h("p", null, "Start the server with a file, and it opens here:"),
      h("pre", null, "lookalike serve films.csv"),
    );
  }
  return [
    problem(state.slots.info?.problem, act, "info"),
    h("p", null, "Tables on this server:"),
    h(
      "ul",
      null,
      list?.map((one) =>
        h("li", { key: one.name }, h("button", { type: "button", class: "link", on: { click: () => act({ type: "collection", name: one.name }) } }, one.title || one.name), h("small", null, ` ${count(one.rows)} rows`)),
      ),
    ),
  ];
}
