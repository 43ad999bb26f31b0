// @ts-check
/** One row that was found, with its best reasons; every column where it is opened. */
import { info } from "../ask.js";
import { curve, stack } from "../draw/bars.js";
import { h } from "../draw/dom.js";
import { icon } from "../draw/icons.js";
import { cell, isCurve, score, yearColumn } from "../draw/scales.js";
import { later } from "./later.js";

const SHOWN = 3; // reasons on each side

/** @param {State} state @param {Dispatch} act @param {Hit} one @param {number|"new"|null} moved */
export function hit(state, act, one, moved) {
  const { open, pending } = state.link;
  const opened = open === one.id;
  const side = pending.like.includes(one.id) ? "liked" : pending.unlike.includes(one.id) ? "unliked" : "";
  const name = one.label ?? String(one.id);
  const classes = ["hit", opened ? "open" : "", state.ui.at === one.id ? "at" : "", side].filter(Boolean).join(" ");
  const toggle = () => act({ type: "set", open: opened ? null : one.id });
  const hover = (id) => () => act({ type: "ui", hover: id, card: false });
  return h(
    "li",
    { key: one.id, class: classes, "data-id": String(one.id), on: { mouseenter: hover(one.id), mouseleave: hover(null), focusin: () => act({ type: "ui", at: one.id }) } },
    h("div", { class: "rank" }, one.rank, movement(moved, byMarks(state) ? " by your marks" : "")),
    h(
      "div",
      { class: "body" },
      h(
        "h3",
        null,
        h("button", { type: "button", class: "title", "aria-expanded": String(opened), on: { click: toggle } }, name, h("small", null, beside(state, one))),
        one.compared < one.compared_of ? h("small", { class: "compared", title: "the other cells are missing in one of the two rows" }, `compared in ${one.compared} of ${one.compared_of}`) : null,
      ),
      h(
        "div",
        { class: "why" },
        stack(one),
        reasons(one.reasons?.for, "for", "+"),
        reasons(one.reasons?.against, "against", "−"),
      ),
    ),
    h(
      "div",
      { class: "score" },
      ranked(one),
      h(
        "span",
        { class: "acts" },
        mark(act, one.id, "like", side === "liked", `more like ${name} (u)`),
        mark(act, one.id, "unlike", side === "unliked", `less like ${name} (d)`),
        h(
          "button",
          { type: "button", title: "search from here (m)", "aria-label": `search from ${name}`, on: { click: () => act({ type: "ask", query: { id: one.id } }) } },
          icon("center"),
        ),
      ),
    ),
    opened ? later("detail", state, act, one) : null,
  );
}

/** What tells a row from others of its name: the year or date, and the id. @param {State} state @param {any} one */
export function beside(state, one) {
  const year = yearColumn(info(state).columns);
  const dated = year && one.row[year.name] !== null && one.row[year.name] !== undefined ? cell(one.row[year.name], year) : null;
  const name = String(one.label ?? one.id);
  const id = one.id === null || name === String(one.id) || name.endsWith(`#${one.id}`) ? null : `#${one.id}`;
  return [dated, id].filter(Boolean).join(" · ");
}

/** Were the last rows that moved moved by marks? @param {State} state */
export const byMarks = (state) => "marks" in (state.link.steps.at(-1) ?? {});

/** The number that the list is ranked by; with marks it is not the similarity alone. @param {Hit} one */
function ranked(one) {
  if (one.score === null || one.similarity === null || one.score === one.similarity) return h("b", null, score(one.similarity));
  return h("span", { class: "ranked" }, h("b", { title: "ranked by this: near what you like, far from what you do not" }, score(one.score)), h("small", null, `alike ${score(one.similarity)}`));
}

/** @param {number|"new"|null} moved @param {string} why */
function movement(moved, why) {
  if (moved === null) return null;
  if (moved === "new") return h("small", { class: "new", title: `not in the list before: it came${why || " in"}` }, "new");
  if (moved === 0) return h("small", { class: "same", "aria-label": "same place" }, "–");
  const text = `${Math.abs(moved)} ${Math.abs(moved) === 1 ? "place" : "places"} ${moved > 0 ? "up" : "down"}${why}`;
  return h("small", { class: moved > 0 ? "rose" : "fell", title: text }, `${moved > 0 ? "▲" : "▼"} ${Math.abs(moved)}`);
}

/** @param {Dispatch} act @param {any} id @param {"like"|"unlike"} side @param {boolean} on @param {string} label */
function mark(act, id, side, on, label) {
  return h(
    "button",
    { type: "button", class: side, title: label, "aria-label": label, "aria-pressed": String(on), on: { click: () => act({ type: "mark", id, side }) } },
    icon(side === "like" ? "up" : "down"),
  );
}

/** A phrase without the small bars of a terminal: here they are drawn. @param {string} text */
const words = (text) => text.replace(/:?\s*[▁-█][▁-█\s]*((and|against)\s+[▁-█\s]+)?/u, " ").slice(0, 60);

/** @param {Reason[]|undefined} list @param {string} side @param {string} sign */
function reasons(list, side, sign) {
  if (!list?.length) return null;
  return h(
    "p",
    { class: `reasons ${side}` },
    h("span", { class: "sign", role: "img", "aria-label": side }, sign),
    list.slice(0, SHOWN).map((reason) =>
      h(
        "span",
        { key: reason.column, class: "reason", title: `${reason.column}: ${cell(reason.query)} | ${cell(reason.found)}` },
        isCurve(reason.query) ? [words(reason.text), curve(reason.found, reason.query)] : reason.text,
      ),
    ),
  );
}
