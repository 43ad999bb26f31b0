// @ts-check
/** Parts whose code comes when they are first looked at, so that the first list does not wait. */
import { bones } from "./states.js";

const PARTS = {
  map: () => import("./map.js"),
  graph: () => import("./graph.js"),
  hubs: () => import("./hubs.js"),
  set: () => import("./set.js"),
  form: () => import("./form.js"),
  compare: () => import("./compare.js"),
  detail: () => import("./detail.js"),
  editor: () => import("./editor.js"),
  dialogs: () => import("./dialogs.js"),
  welcome: () => import("./welcome.js"),
  columns: () => import("./columns.js"),
  review: () => import("./review.js"),
  measures: () => import("./measures.js"),
  clusters: () => import("./clusters.js"),
  suggest: () => import("./suggest.js"),
};
/** @type {Object<string, (state: State, act: Dispatch, ...more: any[]) => any>} */
const HERE = {};
const coming = new Set();
/** @type {Promise<void>|null} */
let styled = null;

/** The style of everything but the first view. */
function style() {
  if ("offline" in document.documentElement.dataset) return null; // it is in the file
  styled ??= new Promise((done) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("../style/later.css", import.meta.url).href;
    link.onload = link.onerror = () => done();
    document.head.append(link);
  });
  return styled;
}

/** @param {keyof typeof PARTS} name @param {State} state @param {Dispatch} act @param {...any} more */
export function later(name, state, act, ...more) {
  if (name in HERE) return HERE[name](state, act, ...more);
  if (!coming.has(name)) {
    coming.add(name);
    Promise.all([PARTS[name](), name === "map" ? null : style()]).then(
      ([module]) => {
        HERE[name] = /** @type {any} */ (module).default;
        act({ type: "ui" }); // draw again
      },
      () => act({ type: "ui", notice: "A part of the page could not be loaded: is the server still running? Reload the page." }),
    );
  }
  return bones(4);
}

/** Fetch what is likely to be opened next, once there is nothing else to do. */
export function prepare() {
  const soon = window.requestIdleCallback ?? ((work) => setTimeout(work, 500));
  soon(() => Promise.all([style(), PARTS.detail(), PARTS.editor(), PARTS.suggest()]).catch(() => {}), { timeout: 4000 });
}
