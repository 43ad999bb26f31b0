// @ts-check
/** One line above the page for what happened meanwhile: rows changed, the measure is out of date. */
import { info, measuresOf } from "../ask.js";
import { h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";
import { progress } from "./states.js";

/** @param {State} state @param {Dispatch} act */
export function banners(state, act) {
  const collection = info(state);
  const answer = state.slots.answer;
  const list = [];
  const banner = (key, /** @type {any[]} */ ...children) =>
    list.push(h("div", { key, class: "banner", role: "status" }, children));
  const button = (text, click) =>
    h("button", { type: "button", on: { click } }, text);

  if (state.ui.fit) banner("fit", progress(state.ui.fit, act));
  const newest = state.slots.now?.value?.generation ?? collection?.generation;
  if (answer?.status === "ready" && answer.value && newest > answer.value.generation) {
    banner("stale", "Rows were changed since this list was made.", button("Refresh", () => act({ type: "refresh" })));
  }
  if (collection?.drift?.refit && !state.ui.fit) {
    const why = collection.drift.reasons.join("; ");
    banner(
      "drift",
      h("span", null, `The measure was fitted on other data${why ? `: ${why}` : ""}.`),
      button("Refit", () => act({ type: "ui", dialog: "refit", wanted: collection.measure.asked ?? "auto" })),
    );
  }
  const { measure, sheet } = state.link;
  if (collection && measure !== null && !sheet) {
    const title = measuresOf(state).find(({ name }) => name === measure)?.words ?? measure;
    banner(
      "measure",
      h("span", null, `In this link rows are compared by “${title}”, for all others still by “${collection.measure.words}”.`),
      button("Make this the default", () => act({ type: "ui", dialog: "refit", wanted: measure })),
      button("Back", () => act({ type: "set", measure: null })),
    );
  }
  if (state.ui.notice) {
    const close = { type: "button", class: "plain square", "aria-label": "close", on: { click: () => act({ type: "ui", notice: null }) } };
    banner("notice", h("span", null, state.ui.notice), h("button", close, icon("close")));
  }
  return list;
}
