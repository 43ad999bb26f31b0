// @ts-check
/** The list: rank and how it moved, the score, the reasons, the marks. */
import { MOST, chosenIds, info, repairing } from "../ask.js";
import { h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";
import { condition, count } from "../draw/scales.js";
import { PAGE, question } from "../link.js";
import { beside, byMarks, hit } from "./hit.js";
import { later } from "./later.js";
import { bones, problem, working } from "./states.js";

const FEW = 7; // hits that a screen shows at first; those below it come with the next frame

/** @param {State} state @param {Dispatch} act */
export function results(state, act) {
  const slot = state.slots.answer;
  const collection = info(state);
  if (!collection) return state.slots.info?.status === "error" ? null : bones(10);
  if (slot?.status === "error") {
    return [h("h2", null, "Most alike"), problem(slot.problem, act, "answer"), ways(state, act)];
  }
  if (repairing(state)) return [h("h2", null, "Most alike"), repair(state, act)];
  if (slot?.status === "job") return [h("h2", null, "Most alike"), working(slot, act)];
  const answer = slot?.value;
  if (!answer) return [h("h2", null, "Most alike"), bones(10)];
  const moves = moved(state);
  const { few } = state.ui;
  const busy = slot?.status === "loading" || few;
  const hits = few ? answer.hits.slice(0, FEW) : answer.hits;
  return [
    folded(state, act, answer),
    h(
      "div",
      { class: "row head" },
      h("h2", null, `Most alike of ${count(answer.matched ?? collection.rows)}`),
      h("button", { type: "button", class: "plain small density", "aria-pressed": String(document.documentElement.dataset.density === "roomy"), on: { click: () => act({ type: "density" }) } }, "Roomy"),
    ),
    chips(state, act),
    byMarks(state) ? h("p", { class: "note", key: "marks" }, "Ranked with your marks: ▲ and ▼ show what they moved. The number is what the list is ranked by; “alike” is the similarity to the row in question.") : null,
    answer.note ? h("p", { class: "note" }, answer.note) : null,
    state.link.space === "repaired" ? later("compare", state, act) : null,
    answer.hits.length ? null : empty(state, act, collection),
    h(
      "ol",
      { class: busy && !few ? "hits busy" : "hits", "aria-busy": String(busy) },
      hits.map((one) => hit(state, act, one, moves.get(one.id) ?? null)),
    ),
    answer.hits.length && !few ? below(state, act, answer) : null,
  ];
}

/** The row in question in one line, for a phone. @param {State} state @param {Dispatch} act @param {any} answer */
function folded(state, act, answer) {
  const weights = Object.entries(question(state.link).weights).map(([name, w]) => `${name} ×${w}`);
  return h(
    "button",
    { type: "button", class: "folded", key: "folded", on: { click: () => act({ type: "ui", tab: "query" }) } },
    h("span", null, "like ", h("b", null, answer.query.label ?? "a new row"), " ", h("small", null, beside(state, answer.query))),
    h("small", null, `${weights.join(", ")} ▾`),
  );
}

/** Marked rows, and the rows that the list is made from: each with a way to take it back. */
function chips(/** @type {State} */ state, /** @type {Dispatch} */ act) {
  const { like, unlike } = question(state.link);
  const { within, pending } = state.link;
  const name = (id) => state.ui.names[id] ?? state.slots.answer?.value?.hits.find((one) => one.id === id)?.label ?? `#${id}`;
  const chip = (key, picture, text, action, label) =>
    h("button", { key, type: "button", class: `chip ${picture ?? ""}`, "aria-label": `${text}: ${label}`, title: label, on: { click: () => act(action) } }, picture ? icon(picture) : null, h("span", null, text), icon("close"));
  const marked = (ids, picture) => ids.map((id) => chip(`${picture}${id}`, picture, name(id), { type: "unmark", id }, "take back the mark"));
  const list = [...marked([...like, ...pending.like], "up"), ...marked([...unlike, ...pending.unlike], "down")];
  const all = within === "set" ? chosenIds(state)?.length : state.slots.clusters?.value?.clusters?.find(({ cluster }) => cluster === within)?.size;
  const some = (all ?? 0) > MOST ? `, ${count(MOST)} of its ${count(all)} rows` : "";
  if (within !== null) list.push(chip("within", null, `${within === "set" ? "in the chosen set" : `in group ${within + 1}`}${some}`, { type: "set", within: null }, "look at all rows again"));
  if (state.link.wide) list.push(chip("wide", null, "drawn from twice as many", { type: "set", wide: false }, "show the nearest again"));
  return list.length ? h("div", { class: "values chips", key: "chips" }, list) : null;
}

/** The repaired space is being made, or could not be. @param {State} state @param {Dispatch} act */
function repair(state, act) {
  const slot = state.slots.repair;
  if (slot?.status === "error") return [problem(slot.problem, act, "repair"), ways(state, act)];
  return [h("p", null, "Reducing hubs: this is done once for the table."), working(slot, act)];
}

/**
 * How many places each hit went up since the step before; "new" where it was not in the list.
 *
 * @param {State} state
 * @returns {Map<Id, number|"new">}
 */
export function moved(state) {
  const { answer, before } = state.slots;
  /** @type {Map<Id, number|"new">} */
  const moves = new Map();
  if (!state.link.steps.length || before?.status !== "ready" || answer?.status !== "ready") return moves;
  const ranks = new Map(before.value.hits.map((one) => [one.id, one.rank]));
  for (const one of answer.value.hits) {
    const was = ranks.get(one.id);
    moves.set(one.id, was === undefined ? "new" : was - one.rank);
  }
  return moves;
}

/** @param {State} state @param {Dispatch} act @param {any} collection */
function empty(state, act, collection) {
  const filters = Object.entries(question(state.link).filter);
  if (!filters.length) {
    const text = collection.rows > 1 ? "No row can be compared with this one: all its cells are missing." : "There are no other rows yet.";
    return h("p", { class: "empty" }, text);
  }
  const columns = new Map(collection.columns.map((column) => [column.name, column]));
  return h(
    "div",
    { class: "empty" },
    h("p", null, filters.length === 1 ? "No row matches this filter." : "No row matches these filters together."),
    filters.map(([name, one]) =>
      h(
        "button",
        { key: name, type: "button", on: { click: () => act({ type: "filter", column: name, condition: null }) } },
        `Drop “${condition(name, one, columns.get(name))}”`,
      ),
    ),
  );
}

/** Ways out of a question that the server refused. @param {State} state @param {Dispatch} act */
function ways(state, act) {
  const { steps, space, query } = state.link;
  const way = (text, action) =>
    h("button", { key: text, type: "button", class: "plain", on: { click: () => act(action) } }, text);
  return h(
    "p",
    { class: "row" },
    space === "repaired" ? way("Use the plain space", { type: "set", space: "plain" }) : null,
    steps.length ? way("Undo the last step", { type: "undo" }) : null,
    query ? way("Go to the first row", { type: "ask", query: null }) : null,
  );
}

/** @param {State} state @param {Dispatch} act @param {any} answer */
function below(state, act, answer) {
  const more = answer.hits.length >= state.link.k && state.link.k < 1000;
  const ids = answer.hits.map((one) => one.id);
  return h(
    "p",
    { class: "row below" },
    more ? h("button", { key: "more", type: "button", on: { click: () => act({ type: "set", k: state.link.k + PAGE }) } }, `${PAGE} more`) : null,
    h("button", { key: "csv", type: "button", class: "plain", on: { click: () => act({ type: "export", form: "csv" }) } }, "Export CSV"),
    h("button", { key: "json", type: "button", class: "plain", on: { click: () => act({ type: "export", form: "json" }) } }, "Export JSON"),
    h(
      "button",
      { key: "set", type: "button", class: "plain", on: { click: () => act({ type: "set", view: "set", set: { ids } }) } },
      "What do they share?",
    ),
    h("small", null, `${Math.max(1, Math.round(answer.took_ms))} ms`),
  );
}
