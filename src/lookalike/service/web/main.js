// @ts-check
/** Start: the store, the router, the loader, and the drawing of all views after each change. */
import { call, follow, keepToken } from "./api.js";
import { chosenIds, info } from "./ask.js";
import { patch } from "./draw/dom.js";
import { count } from "./draw/scales.js";
import { listenToKeys } from "./keys.js";
import { readLink, writeLink } from "./link.js";
import { createLoader } from "./loader.js";
import { createStore } from "./state.js";
import { banners } from "./views/banners.js";
import { header } from "./views/header.js";
import { later, prepare } from "./views/later.js";
import { query } from "./views/query.js";
import { results } from "./views/results.js";
import { rounds } from "./views/rounds.js";
import { side } from "./views/side.js";


const LOOK_AGAIN = 20000; // milliseconds between looks for changed rows
const PATIENCE = 1500; // milliseconds that all else waits for the first list

/** @type {Array<[string, (state: State, act: (action: Action) => void) => any]>} */
const PARTS = [
  ["header", header],
  ["banners", banners],
  ["query", query],
  ["results", results],
  ["view", side],
  ["rounds", rounds],
  ["dialogs", (state, send) => (state.ui.dialog ? later("dialogs", state, send) : null)],
];

const store = createStore(changed);
const loader = createLoader(store.get, act);
let planned = false;
let hurried = false;
let frame = 0;
let drawn = false;
let followed = false;
let spoken = "";

/** Acts that do more than change the state. @type {Object<string, (action: Action, state: State) => any>} */
const EFFECTS = {
  theme: () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("lookalike-theme", root.dataset.theme);
    plan();
  },
  share: async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      act({ type: "ui", notice: "The link is copied: it holds the row, the weights, the filter, the marks and the view." });
    } catch {
      act({ type: "ui", dialog: "share" }); // no clipboard here: show it
    }
  },
  export: async ({ form }, state) => {
    const { download, hitRecords, toCsv } = await import("./export.js");
    const answer = state.slots.answer?.value;
    const name = `${state.link.collection}-like-${answer.query.label ?? "new-row"}`.replaceAll(/[^\w.-]+/g, "_");
    if (form === "csv") download(`${name}.csv`, toCsv(hitRecords(answer.hits)), "text/csv");
    else download(`${name}.json`, JSON.stringify(answer, null, 1), "application/json");
  },
  exportSet: async ({ form }, state) => {
    const { download, toCsv } = await import("./export.js");
    const records = (chosenIds(state) ?? []).map((id) => ({ id }));
    const name = `${state.link.collection}-set`;
    if (form === "csv") download(`${name}.csv`, toCsv(records), "text/csv");
    else download(`${name}.json`, JSON.stringify({ ids: records.map(({ id }) => id), profile: state.slots.profile?.value }, null, 1), "application/json");
  },
  retry: ({ slot }) => loader.retry(slot),
  cancel: ({ job }) => call("DELETE", `/api/jobs/${encodeURIComponent(job)}`).catch(tell),
  token: ({ token }) => {
    keepToken(token);
    act({ type: "refresh" });
  },
  refit: async ({ measure }, state) => {
    act({ type: "ui", dialog: null });
    try {
      const path = `/api/collections/${encodeURIComponent(state.link.collection ?? "")}/measure`;
      const { job } = await call("POST", path, { measure });
      const ended = await follow(typeof job === "string" ? job : job.id, (fit) => act({ type: "ui", fit }));
      if (ended.state === "failed") tell({ problem: ended.problem });
      act({ type: "set", measure: null });
      act({ type: "refresh" });
    } catch (error) {
      tell(error);
    }
    act({ type: "ui", fit: null });
  },
};

/** @param {any} error */
function tell(error) {
  const { title, detail } = error.problem ?? { title: String(error) };
  act({ type: "ui", notice: detail ?? title });
}

/** @param {Action} action */
function act(action) {
  const effect = EFFECTS[action.type];
  if (effect) effect(action, store.get());
  else store.dispatch(action);
}

/** Which acts the back button takes back. */
const PAGES = new Set(["ask", "collection"]);

/** @param {State} state @param {Action} action */
function changed(state, action) {
  if (action.type !== "link" && !action.routed) {
    const hash = writeLink(state.link);
    if (hash !== location.hash && state.link.collection) {
      if (PAGES.has(action.type)) history.pushState(null, "", hash);
      else history.replaceState(null, "", hash);
    }
  }
  if (action.type === "ask") document.getElementById("results")?.scrollTo(0, 0);
  plan(action.type !== "slot");
}

/**
 * Ask for what is missing now, and draw: at once after an act, with the next frame after an answer,
 * as several of them may come between two frames. The first answer is drawn at once; where it came
 * with the page, nothing is drawn before it.
 *
 * @param {boolean} [soon]
 */
function plan(soon = true) {
  hurried ||= soon;
  if (planned) return;
  planned = true;
  queueMicrotask(() => {
    planned = false;
    open(store.get());
    loader.sync();
    const { slots, ui } = store.get();
    const first = ui.few && !followed && slots.answer?.status === "ready";
    if (first || (hurried && !opened()) || document.hidden) draw(store.get()); // a hidden page has no frames
    else frame ||= requestAnimationFrame(() => draw(store.get()));
    hurried = false;
  });
}

/** Is the first answer about to be read from the page itself? */
const opened = () => !drawn && document.documentElement.dataset.opening !== undefined && !window.lookalikeOpening;

/** Open the first table if the link names none. @param {State} state */
function open(state) {
  const first = state.slots.collections?.value?.collections[0];
  if (!state.link.collection && first) {
    store.dispatch({ type: "link", link: { ...state.link, collection: first.name } });
    history.replaceState(null, "", writeLink(store.get().link));
  }
}

/** Whether there is no table to look at. @param {State} state */
function nothing({ slots }) {
  const failed = (slot) => slot?.status === "error" && !slot.value;
  const list = slots.collections?.value?.collections;
  return failed(slots.collections) || (list && (!list.length || failed(slots.info)));
}

/** @param {State} state */
function draw(state) {
  cancelAnimationFrame(frame);
  frame = 0;
  drawn = true;
  const empty = nothing(state) && later("welcome", state, act);
  document.body.classList.toggle("nothing", Boolean(empty));
  for (const [id, view] of PARTS) {
    const root = /** @type {HTMLElement} */ (document.getElementById(id));
    patch(root, id === "results" && empty ? empty : view(state, act));
  }
  const answer = state.slots.answer;
  const title = answer?.value?.query.label;
  document.title = [title, info(state)?.title, "lookalike"].filter(Boolean).join(" · ");
  speak(state);
  if (state.ui.few && answer && answer.status !== "loading" && !followed) {
    followed = true;
    afterFrame(() => act({ type: "ui", few: false }));
  }
}

/** Do something when what was drawn is on the screen. @param {() => void} work */
function afterFrame(work) {
  if (document.hidden) setTimeout(work); // a hidden page has no frames
  else requestAnimationFrame(() => setTimeout(work));
}

/** Tell screen readers when a new list is there. @param {State} state */
function speak(state) {
  const slot = state.slots.answer;
  if (slot?.status !== "ready" || slot.valueKey === spoken) return;
  if (state.ui.few) return; // more of it is to come
  if (!spoken) prepare();
  spoken = slot.valueKey ?? "";
  const { hits, query: asked, matched } = slot.value;
  const text = hits.length ? `${count(hits.length)} of ${count(matched)} rows like ${asked.label ?? "the new row"}, first ${hits[0].label ?? hits[0].id}` : "No row matches";
  /** @type {HTMLElement} */ (document.getElementById("live")).textContent = text;
}

/** Look now and then whether rows were changed, without touching what is on the screen. */
async function look() {
  const { collection } = store.get().link;
  if (document.hidden || !collection || !info(store.get())) return;
  try {
    const value = await call("GET", `/api/collections/${encodeURIComponent(collection)}`);
    const was = store.get().slots.now?.value;
    if (was?.generation === value.generation && store.get().slots.now?.key === collection) return;
    act({ type: "slot", name: "now", slot: { key: collection, status: "ready", value } });
  } catch {
    // the next question says what is wrong
  }
}

function route() {
  const { link, unread } = readLink(location.hash);
  const { collection } = store.get().link;
  if (collection && link.collection !== collection) act({ type: "collection", name: link.collection, routed: true });
  store.dispatch({ type: "link", link });
  if (unread.length) act({ type: "ui", notice: `Part of the link could not be read and was left out: ${unread.join(", ")}.` });
}

document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault(); // the part of the address behind "#" is the state
  document.getElementById("results")?.focus();
});
window.addEventListener("hashchange", route);
window.addEventListener("popstate", route);
window.addEventListener("focus", look);
setInterval(look, LOOK_AGAIN);
listenToKeys(store.get, act);
route();
plan();
setTimeout(() => store.get().ui.few && act({ type: "ui", few: false }), PATIENCE);
