// @ts-check
/** The way from the first list to this one: steps to go back to, marks that wait, the filter. */
import { info } from "../ask.js";
import { h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";
import { condition, count, counted } from "../draw/scales.js";
import { question } from "../link.js";

/** @param {State} state @param {Dispatch} act */
export function rounds(state, act) {
  const collection = info(state);
  if (!collection || state.link.sheet) return [];
  const { steps, pending } = state.link;
  const waiting = pending.like.length + pending.unlike.length;
  const pill = (at, text, title) =>
    h(
      "li",
      { key: at },
      h(
        "button",
        { type: "button", class: "pill", title, "aria-current": at === steps.length ? "step" : null, on: { click: () => act({ type: "backTo", round: at }) } },
        text,
      ),
    );
  return [
    h(
      "ol",
      { class: "rounds", "aria-label": "steps" },
      pill(0, "start", "Back to the first list"),
      steps.map((step, i) => pill(i + 1, describe(step, collection), `Back to step ${i + 1}`)),
    ),
    waiting
      ? h(
          "span",
          { class: "waiting" },
          marks(pending),
          h("button", { type: "button", class: "strong", on: { click: () => act({ type: "rank" }) } }, "Rank again", h("kbd", null, "r")),
        )
      : null,
    h("button", { key: "undo", type: "button", class: "plain", disabled: !waiting && !steps.length, on: { click: () => act({ type: "undo" }) } }, "Undo"),
    h("button", { key: "over", type: "button", class: "plain", disabled: !waiting && !steps.length, on: { click: () => act({ type: "startOver" }) } }, "Start over"),
    changes(state, act),
    h("span", { class: "matched" }, matched(state, collection)),
    newer(state, act, collection),
  ];
}

/** The last row that was changed here, and the way back. @param {State} state @param {Dispatch} act */
function changes(state, act) {
  const list = state.ui.changes;
  const last = list.at(-1);
  if (!last) return null;
  const more = list.length > 1 ? ` · ${list.length - 1} more` : "";
  return h(
    "span",
    { class: "waiting changed", key: "changed", role: "status" },
    h("span", null, `${last.what} `, h("b", null, last.label ?? ""), ` #${last.id}${more}`),
    h("button", { type: "button", class: "strong", on: { click: () => act({ type: "undoRow" }) } }, "Undo this change", state.ui.acted ? h("kbd", null, "z") : null),
  );
}

/** Rows that the view beside the list has not seen yet. @param {State} state @param {Dispatch} act @param {any} collection */
function newer(state, act, collection) {
  const { view } = state.link;
  const slot = state.slots[view];
  const rows = slot?.value?.newer;
  if (slot?.status === "job" && slot.value) return h("span", { key: "newer", class: "newer" }, `The ${WORDS[view]} being brought up to date`);
  if (!rows) return null;
  return h(
    "span",
    { key: "newer", class: "newer" },
    `${counted(rows, "row")} newer than the ${view}`,
    h("button", { type: "button", on: { click: () => act({ type: "ui", fresh: collection.generation }) } }, "Bring up to date"),
  );
}

const WORDS = { map: "map is", hubs: "hubs are", clusters: "clusters are" };

/** @param {State} state @param {any} collection */
function matched(state, collection) {
  const answer = state.slots.answer?.value;
  const filtered = Object.keys(question(state.link).filter).length;
  if (!filtered || !answer) return `all ${count(collection.rows)} rows · no filter`;
  return `${count(answer.matched)} of ${count(collection.rows)} match the filter`;
}

/** @param {Marks} given */
function marks(given) {
  const side = (name, n, label) =>
    n ? h("span", { key: name, class: `mark ${name}`, "aria-label": `${n} ${label}` }, icon(name), n) : null;
  return h("span", { class: "marks" }, side("up", given.like.length, "liked"), side("down", given.unlike.length, "not liked"));
}

/** @param {any} step @param {any} collection */
function describe(step, collection) {
  if (step.marks) return marks(step.marks);
  if (step.weights) {
    const list = Object.entries(step.weights);
    return list.length ? `weights: ${list.map(([name, w]) => `${name} ×${w}`).join(", ")}` : "weights as before";
  }
  const columns = new Map(collection.columns.map((column) => [column.name, column]));
  const list = Object.entries(step.filter);
  return list.length ? `only ${list.map(([name, one]) => condition(name, one, columns.get(name))).join(", ")}` : "no filter";
}
