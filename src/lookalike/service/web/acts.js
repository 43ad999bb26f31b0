// @ts-check
/** Acts that write a file or change something on the server; loaded when the first of them is done. */
import { ProblemError, authorization, call, follow, readProblem } from "./api.js";
import { chosenIds, info, path } from "./ask.js";
import { download, hitRecords, toCsv } from "./export.js";
import { readCell } from "./read.js";

/** @typedef {{act: Dispatch, get: () => State, tell: (error: any) => void}} Tools */

/** @type {Object<string, (action: Action, tools: Tools) => any>} */
const ACTS = { share, export: exportHits, exportSet, exportLabels, exportDecisions, cancel, refit, bring, tryKind, compareRows, saveRow, deleteRow, undoRow };

/** @param {Action} action @param {Tools} tools */
export default function run(action, tools) {
  return Promise.resolve(ACTS[action.type](action, tools)).catch(tools.tell);
}

/** @param {any} error */
const problemOf = (error) => error.problem ?? { title: String(error) };

/** @param {Action} _action @param {Tools} tools */
async function share(_action, { act }) {
  try {
    await navigator.clipboard.writeText(location.href);
    act({ type: "ui", notice: "The link is copied: it holds the row, the weights, the filter, the marks and the view." });
  } catch {
    act({ type: "ui", dialog: "share" }); // no clipboard here: show it
  }
}

/** @param {string} name @param {string} form @param {any[]} records @param {any} whole */
function write(name, form, records, whole) {
  if (form === "csv") download(`${name}.csv`, toCsv(records), "text/csv");
  else download(`${name}.json`, JSON.stringify(whole, null, 1), "application/json");
}

/** @param {Action} action @param {Tools} tools */
function exportHits({ form }, { get }) {
  const answer = get().slots.answer?.value;
  const name = `${get().link.collection}-like-${answer.query.label ?? "new-row"}`.replaceAll(/[^\w.-]+/g, "_");
  write(name, form, hitRecords(answer.hits), answer);
}

/** @param {Action} action @param {Tools} tools */
function exportSet({ form }, { get }) {
  const ids = chosenIds(get()) ?? [];
  write(`${get().link.collection}-set`, form, ids.map((id) => ({ id })), { ids, profile: get().slots.profile?.value });
}

/** @param {Action} action @param {Tools} tools */
function exportLabels({ form }, { get }) {
  const { ids, labels } = get().slots.clusters?.value ?? {};
  const records = ids.map((id, i) => ({ id, cluster: labels[i] }));
  write(`${get().link.collection}-clusters`, form, records, records);
}

/** @param {Action} _action @param {Tools} tools */
function exportDecisions(_action, { get }) {
  const records = get().link.decided.map(([left, right, same]) => ({ left, right, same: same === null ? "skip" : same ? "yes" : "no" }));
  write(`${get().link.collection}-decisions`, "csv", records, records);
}

/** @param {Action} action */
function cancel({ job }) {
  return call("DELETE", `/api/jobs/${encodeURIComponent(job)}`);
}

/** @param {Action} action @param {Tools} tools */
async function refit({ measure }, tools) {
  tools.act({ type: "ui", dialog: null });
  await fit({ measure }, tools);
}

/** Fit the measure again, in the background. @param {any} body @param {Tools} tools @returns {Promise<boolean>} */
async function fit(body, { act, get, tell }) {
  const { collection } = get().link;
  try {
    const { job } = await call("POST", path(get(), "/measure"), body);
    const ended = await follow(typeof job === "string" ? job : job.id, (now) => act({ type: "ui", fit: now }));
    if (ended.state === "failed") tell({ problem: ended.problem });
    if (get().link.collection !== collection) return false;
    act({ type: "set", measure: null });
    act({ type: "refresh" });
    return ended.state === "done";
  } finally {
    act({ type: "ui", fit: null });
  }
}

/** Bring a table: a file, or an example by its name. @param {Action} action @param {Tools} tools */
async function bring({ file, example }, { act, get }) {
  const title = (file?.name ?? example).slice(0, 200);
  const upload = (part) => act({ type: "ui", upload: part });
  upload({ title, sent: 0 });
  const taken = new Set((get().slots.collections?.value?.collections ?? []).map((one) => one.name));
  const name = freeName(title, taken);
  try {
    const made = file
      ? await send(file, { name, title }, (sent) => upload({ title, sent }))
      : await call("POST", "/api/collections", { name, example });
    upload(null);
    act({ type: "refresh" });
    act({ type: "collection", name: made.name, sheet: "columns" });
  } catch (error) {
    upload({ title, problem: problemOf(error) });
  }
}

/** A name of a collection: as the server makes it, another one where it is taken. */
function freeName(/** @type {string} */ title, /** @type {Set<string>} */ taken) {
  const plain = title.replace(/(\.\w{1,8}){1,2}$/, "").replaceAll(/[^\w.-]+/g, "-").replaceAll(/\.{2,}/g, ".");
  const base = plain.replace(/^[^A-Za-z0-9]+/, "").slice(0, 56) || "table";
  let name = base;
  for (let i = 2; taken.has(name); i += 1) name = `${base}-${i}`;
  return name;
}

/** Send a file; not by fetch, which does not say how much is sent. @returns {Promise<any>} */
function send(/** @type {File} */ file, /** @type {any} */ options, /** @type {(share: number) => void} */ report) {
  const form = new FormData();
  form.append("file", file);
  form.append("options", JSON.stringify(options));
  const request = new XMLHttpRequest();
  request.open("POST", "/api/collections");
  for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value);
  return new Promise((done, failed) => {
    request.upload.onprogress = ({ loaded, total }) => report(loaded / total);
    request.onerror = () => failed(new ProblemError({ title: "The file could not be sent", status: 0, detail: "Is the server still running, and the file still there?" }));
    request.onload = async () => {
      const answer = new Response(request.responseText, { status: request.status });
      if (answer.ok) done(await answer.json());
      else failed(new ProblemError(await readProblem(answer)));
    };
    request.send(form);
  });
}

/** What a column would be as another kind. @param {Action} action @param {Tools} tools */
async function tryKind({ column, kind }, { act, get }) {
  const put = (part) => {
    const { sheet } = get().ui;
    act({ type: "ui", sheet: { ...sheet, tried: { ...sheet.tried, [column]: part } } });
  };
  const { [column]: _, ...others } = get().ui.sheet.kinds;
  const was = info(get()).columns.find((one) => one.name === column);
  const as = (kinds) => act({ type: "ui", sheet: { ...get().ui.sheet, kinds } });
  put(null);
  const same = kind === was.kind || (kind === "aside" && !was.compared);
  as(same ? others : { ...others, [column]: kind });
  if (same || kind === "aside" || kind === "name") return;
  try {
    put(await call("POST", path(get(), "/column"), { column, kind }));
  } catch (error) {
    put({ problem: problemOf(error) });
    if (!Array.isArray(kind) && kind !== "order") as(others); // it stays what it was
  }
}

/** Compare with what the sheet says. @param {Action} _action @param {Tools} tools */
async function compareRows(_action, tools) {
  const { act, get } = tools;
  const { kinds, tried, missing: read, label } = get().ui.sheet;
  const missing = [...new Set([...read, ...Object.keys(kinds).flatMap((name) => tried[name]?.missing ?? [])])];
  if (Object.keys(kinds).length || missing.length || label !== null) {
    const measure = info(get()).measure.asked ?? "auto";
    if (!(await fit({ measure, kinds, missing, ...(label === null ? {} : { label_column: label }) }, tools))) return;
  }
  act({ type: "sheet", name: null });
}

/** The cells of the form as a record. @param {State} state */
function record(state) {
  const draft = state.ui.draft ?? {};
  const cells = info(state).columns.map((column) => {
    const value = draft[column.name] ?? null;
    return [column.name, typeof value === "string" ? readCell(value, column) : value];
  });
  return Object.fromEntries(cells);
}

/** @param {Action} action @param {Tools} tools */
async function saveRow({ id = null }, { act, get }) {
  const row = record(get());
  if (id === null) {
    const { ids, generation } = await call("POST", path(get(), "/rows"), { rows: [row] });
    changed({ what: "Added", id: ids[0], row }, generation, { act, get });
    act({ type: "ask", query: { id: ids[0] } });
  } else {
    const { was } = get().ui;
    const { generation } = await call("PUT", rowPath(get(), id), { row });
    changed({ what: "Changed", id, row, was }, generation, { act, get });
    act({ type: "ui", draft: null, editing: null, tab: "results" });
  }
}

/** @param {Action} action @param {Tools} tools */
async function deleteRow({ id, row }, { act, get }) {
  const { generation } = await call("DELETE", rowPath(get(), id));
  leave(id, { act, get });
  if (get().link.open === id) act({ type: "set", open: null });
  changed({ what: "Deleted", id, was: row }, generation, { act, get });
}

/** Take the last change of a row back. @param {Action} _action @param {Tools} tools */
async function undoRow(_action, { act, get }) {
  const list = get().ui.changes;
  const { id, was } = list.at(-1);
  const { generation } = was
    ? await call("PUT", rowPath(get(), id), { row: was })
    : await call("DELETE", rowPath(get(), id));
  if (!was) leave(id, { act, get });
  act({ type: "ui", changes: list.slice(0, -1), acted: list.length > 1, written: generation });
  act({ type: "refresh" });
}

/** Ask about another row than one that is gone. */
function leave(/** @type {Id} */ id, /** @type {any} */ { act, get }) {
  const answer = get().slots.answer?.value;
  if (answer?.query.id !== id) return;
  // Which row a table opens on is not known again yet, if it was this one.
  const next = info(get()).start === id ? answer.hits[0]?.id : undefined;
  act({ type: "ask", query: next === undefined ? null : { id: next } });
}

/** @param {State} state @param {Id} id */
const rowPath = (state, id) => path(state, `/rows/${encodeURIComponent(id)}`);

/** Remember a change, and ask for everything again. */
function changed(/** @type {any} */ change, /** @type {number} */ generation, /** @type {any} */ { act, get }) {
  const { columns, label_column: named } = info(get());
  const label = (change.was ?? change.row)[named ?? columns[0].name];
  act({ type: "ui", changes: [...get().ui.changes, { ...change, label }], acted: true, written: generation, hover: null });
  act({ type: "refresh" });
}
