// @ts-check
/** What a part of the page shows while it has nothing to show: bones, progress, errors. */
import { h } from "../draw/dom.js";

/** Grey lines where text will stand. @param {number} n */
export function bones(n) {
  return h(
    "div",
    { class: "bones", "aria-hidden": "true" },
    Array.from({ length: n }, (_, i) => h("div", { key: i, class: "bone", css: { "--w": `${60 + ((i * 37) % 40)}%` } })),
  );
}

/** A bar with the progress of the work that a view waits for. @param {Slot|undefined} slot @param {Dispatch} act */
export function working(slot, act) {
  const job = slot?.job;
  if (!job) return bones(4);
  return progress(job, act);
}

/** What work is called until it says itself what it does. */
const WORK = { map: "preparing the map", hubs: "preparing to count hubs", clusters: "preparing clusters", measure: "preparing to refit", repair: "preparing to reduce hubness", trial: "preparing the measure" };

/** @param {Job} job @param {Dispatch} act */
export function progress(job, act) {
  const known = typeof job.progress === "number";
  const text = job.text || WORK[job.kind] || job.kind;
  return h(
    "div",
    { class: "progress" },
    h("p", null, text),
    h("progress", { max: "1", "aria-label": text, ...(known ? { value: job.progress } : {}) }),
    h("button", { type: "button", class: "plain", on: { click: () => act({ type: "cancel", job: job.id }) } }, "Cancel"),
  );
}

/**
 * An error in the server's own words: what was needed, what was found, what to do.
 *
 * @param {Problem|undefined} found
 * @param {Dispatch} act
 * @param {string} slot what to ask for again
 */
export function problem(found, act, slot) {
  if (!found) return null;
  const parts = [
    ["Needed", found.needed],
    ["Found", found.found],
  ].filter(([, text]) => text);
  return h(
    "div",
    { class: "problem", role: "alert" },
    h("p", null, h("strong", null, found.who ? `${found.who}` : found.title)),
    parts.length
      ? h("dl", null, parts.map(([name, text]) => h("div", { key: name }, h("dt", null, name), h("dd", null, text))))
      : h("p", null, found.detail ?? found.title),
    found.hint ? h("p", null, found.hint) : null,
    found.status === 401 ? token(act) : null,
    h("p", { class: "row" }, h("button", { type: "button", on: { click: () => act({ type: "retry", slot }) } }, "Try again")),
  );
}

/** @param {Dispatch} act */
function token(act) {
  const submit = (event) => {
    event.preventDefault();
    act({ type: "token", token: event.target.elements.token.value });
  };
  return h(
    "form",
    { class: "row", on: { submit } },
    h("input", { name: "token", type: "password", autocomplete: "off", "aria-label": "token", placeholder: "token" }),
    h("button", { type: "submit", class: "strong" }, "Use this token"),
  );
}

/** The name of a row, which asks about it. @param {Dispatch} act @param {any} row @param {string} [title] */
export function rowLink(act, { id, label }, title) {
  const click = () => act({ type: "ask", query: { id } });
  return h("button", { key: id, type: "button", class: "link", title, on: { click } }, label ?? `row ${id}`);
}
