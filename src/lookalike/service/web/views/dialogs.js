// @ts-check
/** Windows above the page: the keys, the link to share, a measure to fit. */
import { info } from "../ask.js";
import { h } from "../draw/dom.js";
import { count } from "../draw/scales.js";

const KEYS = [
  ["/", "search"],
  ["j k", "next and previous row"],
  ["Enter", "open the row"],
  ["u d", "more like it, less like it"],
  ["r", "rank again with the marks"],
  ["z", "undo"],
  ["m", "search from this row"],
  ["?", "these keys"],
];

/** @param {State} state @param {Dispatch} act */
export default function dialogs(state, act) {
  const close = () => act({ type: "ui", dialog: null });
  const { dialog } = state.ui;
  if (dialog === "keys") {
    return modal("Keys", close, [
      h("dl", { class: "keys" }, KEYS.map(([key, text]) => h("div", { key }, h("dt", null, key.split(" ").map((one) => h("kbd", { key: one }, one))), h("dd", null, text)))),
    ]);
  }
  if (dialog === "share") {
    return modal("Share this page", close, [
      h("p", null, "The link holds the row, the weights, the filter, the marks and the view. It works for everybody who reaches this server."),
      h("input", { class: "wide", readonly: true, value: location.href, "aria-label": "link", on: { focus: (event) => event.target.select() } }),
    ]);
  }
  if (dialog === "refit" && info(state)) {
    const { wanted } = state.ui;
    const text = state.slots.measures?.value?.measures.find((one) => one.name === wanted)?.text;
    return modal(`Fit ${wanted}`, close, [
      text ? h("p", null, text) : null,
      h("p", null, `It is fitted on ${count(info(state).rows)} rows for everybody who uses this table. The old one serves until the new one is ready.`),
      h("p", { class: "row" }, h("button", { type: "button", class: "strong", on: { click: () => act({ type: "refit", measure: wanted }) } }, "Fit"), h("button", { type: "button", class: "plain", on: { click: close } }, "Cancel")),
    ]);
  }
  return [];
}

/** @param {string} title @param {() => void} close @param {any} children */
function modal(title, close, children) {
  return h(
    "dialog",
    { key: title, "aria-label": title, on: { close }, hook: { mount: (el) => el.showModal() } },
    h("h2", null, title),
    children,
    h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close")),
  );
}
