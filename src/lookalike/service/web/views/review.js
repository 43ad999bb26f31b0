// @ts-check
/** Pairs of rows that may be the same record, the most doubtful first, to be decided by hand. */
import { info } from "../ask.js";
import { breakable, h } from "../draw/dom.js";
import { cell, counted, percent } from "../draw/scales.js";
import { problem, working } from "./states.js";

const STEPS = 100; // of the slider

/** @param {State} state @param {Dispatch} act */
export default function review(state, act) {
  const slot = state.slots.review;
  if (slot?.status === "error") return problem(slot.problem, act, "review");
  if (!slot?.value?.review) return [h("p", null, "Looking for rows that are the same record."), working(slot, act)];
  const { decided } = state.link;
  const { review: pairs } = slot.value;
  const known = (pair) => decided.some(([a, b]) => a === pair[0] && b === pair[1]);
  const done = pairs.filter(({ pair }) => known(pair)).length;
  const now = pairs.find(({ pair }) => !known(pair));
  const yes = decided.filter(([, , same]) => same === true).length;
  const no = decided.filter(([, , same]) => same === false).length;
  const fresh = decided.length - state.link.told;
  const press = (text, action, attributes = {}) => h("button", { key: text, type: "button", ...attributes, on: { click: () => act(action) } }, text);
  return h(
    "div",
    { class: "doubles" },
    h("h2", null, now ? "Are these the same record?" : pairs.length ? "All doubtful pairs are decided" : "No pair is doubtful"),
    pairs.length > 0 && h("p", { class: "row", role: "status", key: "status" }, `${done} of ${counted(pairs.length, "pair")} decided, the strongest doubt first: ${yes} the same, ${no} not`, h("progress", { max: pairs.length || 1, value: done, "aria-label": "pairs decided" })),
    now ? [sides(state, now), answers(act, now, decided.length)] : pairs.length > 0 && h("p", { class: "row" }, press("Undo", { type: "undecide" }, { class: "plain", disabled: !decided.length })),
    doubles(state, act, slot),
    h(
      "p",
      { class: "row" },
      press(`Learn from ${counted(fresh, "answer")}`, { type: "set", told: decided.length }, { disabled: !fresh || slot.status !== "ready" }),
      press("Download the answers", { type: "exportDecisions" }, { class: "plain", disabled: !decided.length }),
      press("Back to the list", { type: "sheet", name: null }, { class: "plain" }),
    ),
    h("p", { class: "muted" }, "The answers are in the link. No row is changed."),
  );
}

/** Both rows beside each other, cells that differ marked. @param {State} state @param {any} pair */
function sides(state, { pair, left, right, probability }) {
  const head = (id) => h("th", { scope: "col", key: `row ${id}` }, `#${id}`);
  return h(
    "table",
    { key: pair.join(" ") },
    h("thead", null, h("tr", null, h("td", null), pair.map(head), h("th", { scope: "col" }, `probably the same: ${percent(probability)}`))),
    h(
      "tbody",
      null,
      info(state).columns.filter(({ name }) => name in left || name in right).map((column) => {
        const [a, b] = [left[column.name] ?? null, right[column.name] ?? null];
        const gap = a === null || b === null;
        const same = JSON.stringify(a) === JSON.stringify(b);
        const said = gap ? (same ? "missing in both" : "known on one side only") : same ? "the same" : "differs";
        return h(
          "tr",
          { key: column.name, class: gap || same ? "" : "differ" },
          h("th", { scope: "row" }, breakable(column.name)),
          [a, b].map((value, i) => h("td", { key: i }, value === null ? h("span", { class: "muted" }, "missing") : cell(value, column))),
          h("td", { class: "muted" }, said),
        );
      }),
    ),
  );
}

/** @param {Dispatch} act @param {any} pair @param {number} many answers so far */
function answers(act, { pair }, many) {
  const button = (text, key, same, kind) => h("button", { type: "button", class: kind, on: { click: () => act({ type: "decide", pair, same }) } }, text, " ", h("kbd", null, key));
  return h(
    "p",
    { class: "row answers", key: "answers" },
    button("The same", "y", true, "strong"),
    button("Two records", "n", false, ""),
    button("Skip", "s", null, "plain"),
    h("button", { type: "button", class: "plain", disabled: !many, on: { click: () => act({ type: "undecide" }) } }, "Undo ", h("kbd", null, "z")),
  );
}

/** From which probability on pairs are doubles, and how good that is. @param {State} state @param {Dispatch} act @param {any} slot */
function doubles(state, act, { value, status }) {
  const { threshold, expected, groups, pairs } = value;
  const share = (part) => (typeof part === "number" ? percent(part) : "an unknown share");
  return h(
    "label",
    { class: "threshold", key: "threshold" },
    "Pairs are doubles from this probability on",
    h("input", { type: "range", min: "0", max: String(STEPS), value: String(Math.round(STEPS * (state.link.from ?? threshold))), "aria-valuetext": percent(state.link.from ?? threshold), on: { change: ({ target }) => act({ type: "set", from: Number(target.value) / STEPS }) } }),
    h("span", { role: "status" }, status !== "ready" ? "…" : !pairs.length ? `${percent(threshold)}: no two rows are the same record.` : `${percent(threshold)}: ${counted(pairs.length, "pair")} in ${counted(groups.length, "group")}. About ${share(expected.precision)} of them are right, and about ${share(expected.recall)} of all doubles are among them.`),
  );
}
