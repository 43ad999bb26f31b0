// @ts-check
/** Views whose code comes when they are first looked at, so that the first list does not wait. */
import { bones } from "./states.js";

const PARTS = {
  map: () => import("./map.js"),
  graph: () => import("./graph.js"),
  hubs: () => import("./hubs.js"),
  set: () => import("./set.js"),
  form: () => import("./form.js"),
  compare: () => import("./compare.js"),
  dialogs: () => import("./dialogs.js"),
};
/** @type {Object<string, (state: State, act: Dispatch) => any>} */
const HERE = {};
const coming = new Set();

/** @param {keyof typeof PARTS} name @param {State} state @param {Dispatch} act */
export function later(name, state, act) {
  if (name in HERE) return HERE[name](state, act);
  if (!coming.has(name)) {
    coming.add(name);
    PARTS[name]().then((module) => {
      HERE[name] = module.default;
      act({ type: "ui" }); // draw again
    });
  }
  return bones(4);
}
