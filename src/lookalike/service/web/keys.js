// @ts-check
/** The keyboard: one letter per act, on the row that is current. */

/** @param {() => State} get @param {Dispatch} act */
export function listenToKeys(get, act) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest("input, select, textarea, dialog")) return;
    const onButton = target.closest("button, a, summary, [role=button]");
    if (event.key === "Enter" && onButton) return; // it presses the button
    if (press(event.key, get(), act)) event.preventDefault();
  });
}

/** @param {string} key @param {State} state @param {Dispatch} act @returns {boolean} was the key ours? */
function press(key, state, act) {
  if (state.link.sheet === "review" && key in ANSWERS) return decide(key, state, act);
  if (state.link.sheet && key !== "?") return false;
  const hits = state.slots.answer?.value?.hits ?? [];
  const at = hits.findIndex((one) => one.id === state.ui.at);
  const id = hits[at]?.id;
  if (key === "/") document.getElementById("search")?.focus();
  else if (key === "?") act({ type: "ui", dialog: "keys" });
  else if (key === "z") act({ type: state.ui.acted ? "undoRow" : "undo" });
  else if (key === "r") act({ type: "rank" });
  else if (key === "j") go(hits[Math.min(at + 1, hits.length - 1)]?.id, act);
  else if (key === "k") go(hits[Math.max(at - 1, 0)]?.id, act);
  else if (id === undefined) return false;
  else if (key === "u") act({ type: "mark", id, side: "like" });
  else if (key === "d") act({ type: "mark", id, side: "unlike" });
  else if (key === "m") act({ type: "ask", query: { id } });
  else if (key === "Enter") act({ type: "set", open: state.link.open === id ? null : id });
  else return false;
  return true;
}

const ANSWERS = { y: true, n: false, s: null, z: undefined };

/** @param {string} key @param {State} state @param {Dispatch} act @returns {boolean} */
function decide(key, state, act) {
  const { decided } = state.link;
  const now = state.slots.review?.value?.review?.find(({ pair: [a, b] }) => !decided.some((one) => one[0] === a && one[1] === b));
  if (key === "z") act({ type: "undecide" });
  else if (now) act({ type: "decide", pair: now.pair, same: ANSWERS[/** @type {"y"|"n"|"s"} */ (key)] });
  return true;
}

/** @param {any} id @param {Dispatch} act */
function go(id, act) {
  if (id === undefined) return;
  act({ type: "ui", at: id });
  const card = document.querySelector(`.hit[data-id="${CSS.escape(String(id))}"]`);
  card?.scrollIntoView({ block: "nearest" });
  /** @type {HTMLElement|null|undefined} */ (card?.querySelector("button.title"))?.focus({ preventScroll: true });
}
