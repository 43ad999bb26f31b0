// @ts-check
/** What the columns are, and what is compared: guessed from the cells, to be changed by hand. */
import { info } from "../ask.js";
import { breakable, h } from "../draw/dom.js";
import { histogram } from "../draw/histogram.js";
import { cell, count, counted, percent } from "../draw/scales.js";

const KINDS = ["number", "date", "category", "order", "flag", "set", "text", "name"];

/** @param {State} state @param {Dispatch} act */
export default function columns(state, act) {
  const collection = info(state);
  const { sheet, fit } = state.ui;
  const all = collection.columns;
  const lines = all.map((was) => ({ was, kind: sheet.kinds[was.name] ?? null, tried: sheet.tried[was.name] ?? null }));
  const compared = lines.filter(({ was, kind }) => isCompared(was, kind)).length;
  const changed = Object.keys(sheet.kinds).length > 0 || sheet.label !== null || sheet.missing.length > 0;
  return h(
    "form",
    {
      class: "sheet",
      "aria-label": "columns",
      on: {
        submit: (event) => {
          event.preventDefault();
          act({ type: "compareRows" });
        },
      },
    },
    h("h2", null, "What the columns are"),
    h("p", { class: "muted" }, `${collection.title} · ${counted(collection.rows, "row")} · ${counted(all.length, "column")}. Guessed from the cells: change what is wrong.`),
    h(
      "table",
      { class: "columns" },
      h("thead", null, h("tr", null, ["column", "what it is", "why", "missing", "values", "compared", "names rows"].map((text) => h("th", { key: text, scope: "col" }, text)))),
      h("tbody", null, lines.map((one) => line(one, collection, sheet, act))),
    ),
    h(
      "p",
      { class: "row sticky", key: "acts" },
      h("button", { type: "submit", class: "strong", disabled: !compared || Boolean(fit) }, "Compare rows"),
      h("span", { class: "muted", role: "status" }, !compared ? "At least one column must be compared." : fit ? "The comparison is being made." : `${counted(compared, "column")} compared${changed ? " · the old comparison serves until the new one is ready" : ""}`),
      h("button", { type: "button", class: "plain", on: { click: () => act({ type: "sheet", name: null }) } }, changed ? "Cancel" : "Back to the rows"),
    ),
  );
}

/** @param {any} was @param {any} kind */
const isCompared = (was, kind) => (kind === null ? was.compared : kind !== "aside" && kind !== "name");

/** The word for a kind in the menu. @param {any} was @param {any} kind */
const word = (was, kind) => (Array.isArray(kind) ? "order" : kind === "aside" ? was.kind : (kind ?? was.kind));

/** @param {any} one @param {any} collection @param {any} sheet @param {Dispatch} act */
function line({ was, kind, tried }, collection, sheet, act) {
  const { name } = was;
  const shown = tried?.column ?? was;
  const now = word(was, kind);
  const on = isCompared(was, kind);
  const turn = (as) => act({ type: "tryKind", column: name, kind: as });
  const label = sheet.label ?? collection.label_column;
  return h(
    "tr",
    { key: name, class: kind === null ? "" : "changed" },
    h("th", { scope: "row" }, breakable(name)),
    h(
      "td",
      { class: "kind" },
      h(
        "select",
        { "aria-label": `what ${name} is`, value: now, on: { change: ({ target }) => turn(target.value) } },
        (KINDS.includes(now) ? KINDS : [now, ...KINDS]).map((text) => h("option", { key: text, value: text }, text)),
      ),
    ),
    h("td", { class: "because" }, why(was, kind, tried, turn, sheet, act)),
    h("td", { class: "missing", "data-head": "missing" }, shown.gaps ? percent(shown.gaps) : "–"),
    h("td", { class: "sample" }, sample(shown)),
    h(
      "td",
      { class: "check", "data-head": "compared" },
      h("label", null, h("input", { type: "checkbox", checked: on, "aria-label": `compare ${name}`, on: { change: ({ target }) => turn(target.checked ? again(was) : "aside") } })),
    ),
    h(
      "td",
      { class: "check", "data-head": "names rows" },
      h("label", null, h("input", { type: "radio", name: "label", checked: label === name, "aria-label": `${name} names rows`, on: { change: () => act({ type: "ui", sheet: { ...sheet, label: name === collection.label_column ? null : name } }) } })),
    ),
  );
}

/** As what a column that was left out is compared. @param {any} was */
function again(was) {
  if (was.compared) return was.kind;
  const { examples, counts, min } = was.summary ?? {};
  const cells = examples ?? counts?.map(([value]) => value) ?? [min];
  return cells.every((value) => typeof value === "number") ? "number" : "text";
}

/** @param {any} was @param {any} kind @param {any} tried @param {(kind: any) => void} turn @param {any} sheet @param {Dispatch} act */
function why(was, kind, tried, turn, sheet, act) {
  if (tried?.problem) {
    const { found, detail, title, needed } = tried.problem;
    return [
      h("span", { class: "warn", role: "alert" }, needed ? `Not possible: needs ${needed}, found ${found}` : (detail ?? title)),
      needed?.startsWith("levels") || kind === "order" ? levels(was, turn) : null,
    ];
  }
  if (kind === null) {
    const note = was.suspects.values.length ? was.suspects.text : was.note;
    return [was.reason, note ? h("small", { class: "warn" }, note) : null, suspects(was, sheet, act)];
  }
  if (kind === "aside") return "left out: shown, never compared";
  if (kind === "name") return "names rows: shown, never compared";
  if (!tried) return "…";
  const { cells, missing, column } = tried;
  if (!cells) return [column.reason === "given" ? "by hand, every cell can be read" : column.reason];
  return h("span", { class: "warn", role: "status" }, `${counted(cells, "cell")} cannot be read and will be missing: ${missing.slice(0, 3).map((value) => cell(value)).join(", ")}${missing.length > 3 ? ", …" : ""}`);
}

/** Values that may mean "missing": read so, or as they are. @param {any} was @param {any} sheet @param {Dispatch} act */
function suspects({ name, suspects: { values } }, sheet, act) {
  if (!values.length) return null;
  const on = values.every((value) => sheet.missing.includes(value));
  const missing = on ? sheet.missing.filter((value) => !values.includes(value)) : [...sheet.missing, ...values];
  const text = `read ${values.map((value) => cell(value)).join(", ")} as missing`;
  return h("button", { type: "button", class: "chip", "aria-pressed": String(on), "aria-label": `${text} (${name})`, on: { click: () => act({ type: "ui", sheet: { ...sheet, missing } }) } }, text);
}

/** Levels from low to high, to be put in order. @param {any} was @param {(kind: any) => void} turn */
function levels(was, turn) {
  const known = (was.summary?.counts ?? []).map(([value]) => value);
  const read = (text) => text.split("<").map((one) => one.trim()).filter(Boolean).map((one) => known.find((value) => String(value) === one) ?? one);
  return h("input", { type: "text", "aria-label": `levels of ${was.name} from low to high`, value: known.join(" < "), on: { change: ({ target }) => turn(read(target.value)) } });
}

/** A small picture of the cells. @param {any} column */
function sample(column) {
  const { histogram: bars, counts, examples, min, max, distinct } = column.summary ?? {};
  if (bars) return [histogram(bars, { label: `${column.name} over all rows`, logarithm: true }), h("small", null, `${cell(min, column)} to ${cell(max, column)}`)];
  if (counts) {
    const top = counts.slice(0, 3).map(([value, n]) => h("span", { key: String(value), class: "top" }, cell(value), h("small", null, ` ${count(n)}`)));
    return [top, distinct > 3 ? h("small", null, `and ${count(distinct - 3)} more`) : null];
  }
  return h("span", { class: "muted" }, (examples ?? []).map((value) => cell(value)).join(", ").slice(0, 90));
}
