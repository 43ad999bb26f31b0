// @ts-check
/** The same list in the plain and the reduced space: what came in, what left, what moved. */
import { h } from "../draw/dom.js";
import { counted } from "../draw/scales.js";
import { bones, problem, rowLink } from "./states.js";

const SHOWN = 10; // of either list

/** @param {State} state @param {Dispatch} act */
export default function compare(state, act) {
  const slot = state.slots.plain;
  if (slot?.status === "error") return problem(slot.problem, act, "plain");
  const answer = state.slots.answer?.value;
  if (!slot?.value || answer?.space !== "repaired") return bones(2);
  const [plain, repaired] = [slot.value.hits, answer.hits].map((hits) => hits.slice(0, SHOWN));
  const came = missingFrom(repaired, plain);
  const left = missingFrom(plain, repaired);
  const column = (title, hits, odd, word) =>
    h(
      "div",
      { key: title },
      h("h3", null, title),
      h(
        "ol",
        null,
        hits.map((one) =>
          h(
            "li",
            { key: one.id, class: odd.has(one.id) ? word : "stayed" },
            rowLink(act, one),
            odd.has(one.id) ? h("small", null, word === "came" ? "came in" : "left") : null,
          ),
        ),
      ),
    );
  const summary = came.size
    ? `${counted(came.size, "row")} came in and ${left.size} left when hubness was reduced`
    : "Repairing the hubs changed no row of this list";
  return h(
    "details",
    { class: "compare", key: "compare", open: true },
    h("summary", null, summary),
    h("div", { class: "pairs" }, column("plain", plain, left, "left"), column("reduced", repaired, came, "came")),
  );
}

/** @param {Hit[]} hits @param {Hit[]} others */
function missingFrom(hits, others) {
  const there = new Set(others.map((one) => one.id));
  return new Set(hits.map((one) => one.id).filter((id) => !there.has(id)));
}
