// @ts-check
/** One row in question, and its list by up to three measures: what they agree on. */
import { measuresOf, sideBySide, ways } from "../ask.js";
import { h } from "../draw/dom.js";
import { score } from "../draw/scales.js";
import { beside } from "./hit.js";
import { problem, rowLink, working } from "./states.js";

const TALL = 40; // pixels of a line, in the style too

/** @param {State} state @param {Dispatch} act */
export default function measures(state, act) {
  const slot = state.slots.measures;
  if (slot?.status === "error") return problem(slot.problem, act, "measures");
  if (!slot?.value) return working(slot, act);
  const shown = sideBySide(state);
  const lists = shown.map((_, i) => state.slots[`list:${i}`]);
  const hits = lists.map((one) => (one?.status === "error" ? [] : (one?.value?.hits ?? [])));
  /** @type {Map<Id, number>} in how many lists each row is */
  const times = new Map();
  for (const { id } of hits.flat()) times.set(id, (times.get(id) ?? 0) + 1);
  const query = lists.find((one) => one?.value)?.value.query;
  return h(
    "div",
    { class: "ways" },
    h("h2", null, "One row, compared in several ways"),
    query ? h("p", { class: "title" }, query.label ?? "a new row", h("small", null, ` ${beside(state, query)}`)) : null,
    h("p", { class: "sentence", role: "status" }, lists.every((one) => one?.status === "ready") ? verdict(hits, times) : "The lists are being made."),
    h(
      "div",
      { class: "lists" },
      shown.map((way, i) => [
        i ? lines(i, hits[i - 1], hits[i], times, shown.length) : null,
        list(state, act, way, i, lists[i], hits[i], times),
      ]),
    ),
    h("p", { class: "muted" }, "Rows in all lists are bold, rows in one list alone are gray. Numbers of different measures cannot be compared. Marks, weights and filters are left out here, so that only the measure differs."),
    h("p", { class: "row" }, h("button", { type: "button", on: { click: () => act({ type: "sheet", name: null }) } }, "Back to the list")),
  );
}

/** How far the lists agree. @param {any[][]} hits @param {Map<Id, number>} times */
function verdict(hits, times) {
  const all = [...times.values()].filter((n) => n === hits.length).length;
  const long = Math.max(...hits.map((one) => one.length));
  if (hits.length < 2) return "There is no other measure that can compare these rows.";
  const some = hits.length > 2 ? `, ${[...times.values()].filter((n) => n === 2).length} more in two of them` : "";
  const word = all >= 0.7 * long ? "agree" : all >= 0.3 * long ? "agree in part" : "disagree";
  return `The lists ${word}: ${all} of ${long} rows are in ${hits.length > 2 ? "all of them" : "both"}${some}.`;
}

/** @param {State} state @param {Dispatch} act @param {any} way @param {number} at @param {any} slot @param {any[]} hits @param {Map<Id, number>} times */
function list(state, act, way, at, slot, hits, times) {
  const many = sideBySide(state).length;
  const text = measuresOf(state).find(({ name }) => name === way.name)?.text;
  return h(
    "section",
    { key: `list ${at}`, "aria-label": way.title },
    at ? choose(state, act, way, at) : h("h3", null, way.title),
    h("p", { class: "muted", title: text }, text ?? "Only columns of sets and texts count."),
    h("p", { class: "row" }, at ? use(state, act, way) : h("span", { class: "chip" }, "the default"), slot?.value ? h("small", null, `${Math.max(1, Math.round(slot.value.took_ms))} ms a list`) : null),
    slot?.status === "error" ? problem(slot.problem, act, `list:${at}`) : null,
    slot?.status !== "error" && !slot?.value ? working(slot, act) : null,
    h(
      "ol",
      null,
      hits.map((one) => {
        const n = times.get(one.id);
        return h(
          "li",
          { key: one.id, class: n === many && many > 1 ? "all" : n === 1 ? "alone" : "" },
          h("span", { class: "place" }, one.rank),
          rowLink(act, one, `in ${n} of ${many} lists`),
          h("small", null, score(one.similarity)),
        );
      }),
    ),
  );
}

/** @param {State} state @param {Dispatch} act @param {any} way @param {number} at */
function choose(state, act, way, at) {
  const { plain, more } = ways(state);
  const [own, ...others] = sideBySide(state).map(({ name }) => name);
  const free = ({ name }) => name === way.name || (name !== own && !others.includes(name));
  const option = ({ name, title }) => h("option", { key: name, value: name }, title);
  const change = ({ target }) => act({ type: "set", versus: others.map((name, i) => (i + 1 === at ? target.value : name)) });
  const rest = more.filter(free);
  return h(
    "select",
    { "aria-label": `measure of list ${at + 1}`, value: way.name, on: { change } },
    plain.filter(free).map(option),
    rest.length ? h("optgroup", { key: "more", label: "more" }, rest.map(option)) : null,
  );
}

/** Try it in the list, for who has the link alone. @param {State} state @param {Dispatch} act @param {any} way */
function use(state, act, way) {
  const click = () => {
    act({ type: "set", measure: way.measure ?? null, space: "plain", ...(way.weights ? { steps: [{ weights: way.weights }] } : {}) });
    act({ type: "sheet", name: null });
  };
  const on = way.measure && state.link.measure === way.measure;
  return h("button", { type: "button", "aria-pressed": String(Boolean(on)), on: { click } }, "Use this one");
}

/** Lines between two lists, from where a row is in one to where it is in the other. */
function lines(/** @type {number} */ at, /** @type {any[]} */ left, /** @type {any[]} */ right, /** @type {Map<Id, number>} */ times, /** @type {number} */ many) {
  const tall = TALL * Math.max(left.length, right.length, 1);
  const y = (rank) => (rank - 0.5) * TALL;
  return h(
    "svg",
    { key: `lines ${at} ${left[0]?.id} ${right[0]?.id}`, class: "lines", viewBox: `0 0 60 ${tall}`, height: tall, preserveAspectRatio: "none", "aria-hidden": "true" },
    left.map((one) => {
      const other = right.find(({ id }) => id === one.id);
      return other ? h("path", { key: one.id, class: times.get(one.id) === many ? "all" : "", d: `M0 ${y(one.rank)}C30 ${y(one.rank)} 30 ${y(other.rank)} 60 ${y(other.rank)}` }) : null;
    }),
  );
}
