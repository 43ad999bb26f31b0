// @ts-check
/** Start: the store, the router, the loader, and the drawing of all views after each change. */
import { call, keepToken } from "./api.js";
import { asked, chosenIds, info } from "./ask.js";
import { patch } from "./draw/dom.js";
import { count } from "./draw/scales.js";
import { listenToKeys } from "./keys.js";
import { question, readLink, writeLink } from "./link.js";
import { createLoader } from "./loader.js";
import { createStore } from "./state.js";
import { banners } from "./views/banners.js";
import { header } from "./views/header.js";
import { later, prepare } from "./views/later.js";
import { query } from "./views/query.js";
import { results } from "./views/results.js";
import { rounds } from "./views/rounds.js";
import { side } from "./views/side.js";
import { tabs } from "./views/tabs.js";


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
  ["tabs", tabs],
  ["dialogs", (state, send) => (state.ui.dialog ? later("dialogs", state, send) : null)],
];

const store = createStore(changed);
const loader = createLoader(store.get, act);
let planned = false;
let hurried = false;
let frame = 0;
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
  retry: ({ slot }) => loader.retry(slot),
  token: ({ token }) => {
    keepToken(token);
    act({ type: "refresh" });
  },
  density: () => {
    const roomy = document.documentElement.dataset.density !== "roomy";
    localStorage.setItem("lookalike-density", roomy ? "roomy" : "compact");
    document.documentElement.dataset.density = roomy ? "roomy" : "compact";
    plan();
  },
};

/** What changes something on the server, or writes a file, comes when it is first needed. */
const load = () => import("./acts.js");
const LOST = "A part of the page could not be loaded: is the server still running? Reload the page.";

/** @param {any} error */
function tell(error) {
  const { title, detail } = error.problem ?? { title: String(error) };
  act({ type: "ui", notice: detail ?? title });
}

/** @param {Action} action */
function act(action) {
  const effect = EFFECTS[action.type];
  if (effect) effect(action, store.get());
  else if (store.knows(action.type)) store.dispatch(action);
  else load().then(({ default: run }) => run(action, { act, get: store.get, tell }), () => tell({ problem: { title: LOST } }));
}

/** Which acts the back button takes back. */
const PAGES = new Set(["ask", "collection", "sheet"]);

/** @param {State} state @param {Action} action */
function changed(state, action) {
  if (action.type !== "link" && !action.routed) {
    const hash = writeLink(state.link);
    if (hash !== location.hash && state.link.collection) {
      if (PAGES.has(action.type)) history.pushState(null, "", hash);
      else history.replaceState(null, "", hash);
    }
  }
  if (action.type === "ask" || action.type === "sheet") document.getElementById("results")?.scrollTo(0, 0);
  plan(action.type !== "slot");
  if (window.lookalikeToken) tellNotebook(state);
}

let chosen = "";

/** Tell the notebook that shows the page what is asked and chosen. @param {State} state */
function tellNotebook(state) {
  const { weights, filter, like, unlike } = question(state.link);
  const { pending } = state.link;
  const marks = { like: [...like, ...pending.like], unlike: [...unlike, ...pending.unlike] };
  const now = { query: asked(state), weights, filter, marks, selection: chosenIds(state) };
  if (JSON.stringify(now) === chosen) return;
  chosen = JSON.stringify(now);
  call("POST", "/api/notebook", now).catch(tell);
}

/**
 * Ask for what is missing now, and draw: at once after an act, with the next frame after an answer,
 * as several of them may come between two frames. The first answer is drawn at once.
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
    if (first || hurried || document.hidden) draw(store.get()); // a hidden page has no frames
    else frame ||= requestAnimationFrame(() => draw(store.get()));
    hurried = false;
  });
}

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
  const name = nothing(state) || state.link.sheet === "new" ? "welcome" : info(state) ? state.link.sheet : null;
  const whole = name && later(name, state, act);
  document.body.className = name ? `whole ${name}` : "";
  document.body.dataset.tab = state.ui.tab;
  const { steps, pending } = state.link;
  const idle = !steps.length && !pending.like.length && !pending.unlike.length && !state.ui.changes.length;
  document.getElementById("rounds")?.classList.toggle("idle", idle); // there is little room on a phone
  for (const [id, view] of PARTS) {
    const root = /** @type {HTMLElement} */ (document.getElementById(id));
    patch(root, id === "results" && whole ? whole : view(state, act));
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
  const { hits, query: about, matched } = slot.value;
  const text = hits.length ? `${count(hits.length)} of ${count(matched)} rows like ${about.label ?? "the new row"}, first ${hits[0].label ?? hits[0].id}` : "No row matches";
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
