// @ts-check
/** A table to bring: a file that is dropped or chosen, an example, or one that is here already. */
import { h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";
import { count } from "../draw/scales.js";
import { problem } from "./states.js";

const FORMS = ".csv,.tsv,.txt,.parquet,.pq,.jsonl,.ndjson,.json,.arrow,.feather,.xlsx,.gz";

/** @param {State} state @param {Dispatch} act */
export default function welcome(state, act) {
  const slot = state.slots.collections;
  if (slot?.status === "error" && !slot.value) return problem(slot.problem, act, "collections");
  const list = slot?.value?.collections ?? [];
  const examples = (state.slots.examples?.value?.examples ?? []).filter((one) => !list.some(({ name }) => name === one.name));
  const lost = list.length && state.link.sheet !== "new" ? problem(state.slots.info?.problem, act, "info") : null;
  return h(
    "div",
    { class: "bring" },
    lost,
    h("h2", null, "Find rows like the one you have in mind"),
    h("p", { class: "muted" }, "Bring a table: see which rows are alike, why, and which belong together."),
    zone(state, act),
    lines("Or try one of these", examples, (one) => act({ type: "bring", example: one.name }), (one) => one.text),
    lines("Tables on this server", list, (one) => act({ type: "collection", name: one.name }), (one) => `${count(one.columns)} columns`),
  );
}

/** @param {State} state @param {Dispatch} act */
function zone(state, act) {
  const { upload } = state.ui;
  const busy = upload && !upload.problem;
  const take = (/** @type {FileList|undefined} */ files) => files?.length && !busy && act({ type: "bring", file: files[0] });
  const over = (on) => (event) => {
    event.preventDefault();
    event.currentTarget?.classList?.toggle("over", on);
  };
  const drop = (event) => {
    over(false)(event);
    take(event.dataTransfer?.files);
  };
  return h(
    "div",
    { class: "drop", key: "drop", on: { dragover: over(true), dragleave: over(false), drop } },
    icon("upload"),
    h("strong", null, "Drop a table here"),
    h("span", { class: "muted" }, "CSV, Parquet, JSON lines or Excel. It is sent to this server alone."),
    h(
      "label",
      { class: "file" },
      h("input", { type: "file", accept: FORMS, disabled: Boolean(busy), "aria-label": "choose a file", on: { change: ({ target }) => take(target.files) } }),
      h("span", { class: "button" }, "Choose a file"),
    ),
    busy ? sending(upload) : null,
    upload?.problem ? refused(upload) : null,
  );
}

/** @param {any} upload */
function sending({ title, sent }) {
  const done = sent >= 1 || sent === 0;
  const text = sent > 0 && sent < 1 ? `Sending ${title}: ${Math.floor(100 * sent)} %` : `Reading ${title}, and comparing its rows …`;
  return h("div", { class: "progress", role: "status" }, h("p", null, text), h("progress", { max: "1", "aria-label": text, ...(done ? {} : { value: sent }) }));
}

/** @param {any} upload */
function refused({ title, problem: found }) {
  const parts = found.needed ? `Needed ${found.needed}, found ${found.found}. ${found.hint ?? ""}` : (found.detail ?? found.title);
  return h("div", { class: "problem", role: "alert" }, h("p", null, h("strong", null, `${title} could not be read`)), h("p", null, parts));
}

/** @param {string} title @param {any[]} list @param {(one: any) => void} open @param {(one: any) => string} about */
function lines(title, list, open, about) {
  if (!list.length) return null;
  return h(
    "section",
    { key: title, "aria-label": title },
    h("h3", null, title),
    h(
      "ul",
      null,
      list.map((one) =>
        h(
          "li",
          { key: one.name },
          h("strong", null, one.title || one.name),
          h("small", null, `${count(one.rows)} rows`),
          h("span", null, about(one)),
          h("button", { type: "button", "aria-label": `Open ${one.title || one.name}`, on: { click: () => open(one) } }, "Open"),
        ),
      ),
    ),
  );
}
