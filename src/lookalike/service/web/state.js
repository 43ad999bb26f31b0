// @ts-check
/** One store: actions in, a new state out. What a link holds is in `state.link` alone. */
import { PAGE, emptyLink, question } from "./link.js";


/** @returns {State} */
export function initialState() {
  return {
    link: emptyLink(),
    slots: {},
    epoch: 0,
    ui: {
      text: "",
      suggesting: false,
      suggestion: 0,
      entered: false,
      at: null,
      draft: null,
      columnText: "",
      dialog: null,
      tool: "pan",
      hover: null,
      notice: null,
      wanted: null,
      fit: null,
      card: false,
      asking: false,
      few: true,
      names: {},
      tab: "results",
      upload: null,
      sheet: noSheet(),
      editing: null,
      was: null,
      changes: [],
      acted: false,
      written: 0,
      fresh: 0,
    },
  };
}

/** What the sheet of columns has changed: kinds, what they would do, the column that names rows. */
export const noSheet = () => ({ kinds: {}, tried: {}, missing: [], label: null });

const NO_MARKS = { like: [], unlike: [] };

/** Forget what belonged to the question before: marks, the opened hit, the grown graph. */
const fresh = (link) => ({
  ...link,
  steps: link.steps.filter((step) => !("marks" in step)),
  pending: NO_MARKS,
  open: null,
  k: PAGE,
  grown: [],
});

/** @type {Object<string, (state: State, action: Action) => State>} */
const ACTIONS = {
  link: (state, { link }) => ({ ...state, link, ui: { ...state.ui, at: null, draft: null } }),
  collection: (state, { name, sheet = null }) => ({
    ...state,
    link: { ...emptyLink(), collection: name, sheet },
    ui: { ...state.ui, at: null, draft: null, editing: null, text: "", fit: null, sheet: noSheet(), changes: [], acted: false, written: 0, fresh: 0, upload: null, tab: "results" },
    slots: keep(state.slots, ["collections", "examples"]),
  }),
  sheet: (state, { name }) => ({ ...state, link: { ...state.link, sheet: name }, ui: { ...state.ui, sheet: noSheet(), upload: null } }),
  ask: (state, { query }) => ({
    ...state,
    link: { ...fresh(state.link), query },
    ui: { ...state.ui, at: null, draft: null, editing: null, text: "", suggesting: false, tab: "results" },
  }),
  weight: (state, { column, value }) => {
    const weights = { ...question(state.link).weights, [column]: value };
    if (value === 1) delete weights[column];
    return withStep(state, { weights });
  },
  filter: (state, { column, condition }) => {
    const filter = { ...question(state.link).filter, [column]: condition };
    if (condition === null) delete filter[column];
    return withStep(state, { filter });
  },
  mark: (state, { id, side }) => {
    const { pending } = state.link;
    const was = pending[/** @type {"like"|"unlike"} */ (side)].includes(id);
    const without = {
      like: pending.like.filter((other) => other !== id),
      unlike: pending.unlike.filter((other) => other !== id),
    };
    if (!was) without[/** @type {"like"|"unlike"} */ (side)].push(id);
    const label = state.slots.answer?.value?.hits.find((one) => one.id === id)?.label;
    return { ...state, link: { ...state.link, pending: without }, ui: { ...state.ui, names: { ...state.ui.names, [id]: label } } };
  },
  unmark: (state, { id }) => {
    const without = ({ like, unlike }) => ({ like: like.filter((one) => one !== id), unlike: unlike.filter((one) => one !== id) });
    const steps = state.link.steps
      .map((step) => ("marks" in step ? { marks: without(step.marks) } : step))
      .filter((step) => !("marks" in step) || step.marks.like.length + step.marks.unlike.length);
    return { ...state, link: { ...state.link, steps, pending: without(state.link.pending) } };
  },
  rank: (state) => {
    const { pending, steps } = state.link;
    if (!pending.like.length && !pending.unlike.length) return state;
    return {
      ...state,
      link: { ...state.link, steps: [...steps, { marks: pending }], pending: NO_MARKS, open: null },
      ui: { ...state.ui, at: null },
    };
  },
  undo: (state) => {
    const { pending, steps } = state.link;
    const waiting = pending.like.length || pending.unlike.length;
    const link = waiting
      ? { ...state.link, pending: NO_MARKS }
      : { ...state.link, steps: steps.slice(0, -1) };
    return { ...state, link };
  },
  backTo: (state, { round }) => ({
    ...state,
    link: { ...state.link, steps: state.link.steps.slice(0, round), pending: NO_MARKS },
  }),
  startOver: (state) => ({ ...state, link: { ...fresh(state.link), steps: [] } }),
  decide: (state, { pair, same }) => ({ ...state, link: { ...state.link, decided: [...state.link.decided, [pair[0], pair[1], same]] } }),
  undecide: (state) => {
    const decided = state.link.decided.slice(0, -1);
    return { ...state, link: { ...state.link, decided, told: Math.min(state.link.told, decided.length) } };
  },
  set: (state, { type: _, ...part }) => ({ ...state, link: { ...state.link, ...part } }),
  ui: (state, { type: _, ...part }) => ({ ...state, ui: { ...state.ui, ...part } }),
  grow: (state, { id }) => {
    const { grown } = state.link;
    const now = grown.includes(id) ? grown.filter((other) => other !== id) : [...grown, id];
    return { ...state, link: { ...state.link, grown: now } };
  },
  slot: (state, { name, slot }) => ({ ...state, slots: { ...state.slots, [name]: slot } }),
  refresh: (state) => ({ ...state, epoch: state.epoch + 1 }),
};

/** @param {Object<string, any>} slots @param {string[]} names */
function keep(slots, names) {
  return Object.fromEntries(Object.entries(slots).filter(([name]) => names.includes(name)));
}

/**
 * Add a step to the question; a further change of the same sort belongs to the same step.
 *
 * @param {State} state
 * @param {any} step
 */
function withStep(state, step) {
  const { steps } = state.link;
  const [kind] = Object.keys(step);
  const last = steps.at(-1);
  const before = last && kind in last ? steps.slice(0, -1) : steps;
  const was = /** @type {any} */ (question({ ...state.link, steps: before }))[kind];
  const nothing = JSON.stringify(was) === JSON.stringify(step[kind]);
  return { ...state, link: { ...state.link, steps: nothing ? before : [...before, step] } };
}

/**
 * @param {State} state
 * @param {Action} action
 * @returns {State}
 */
export function reduce(state, action) {
  const next = ACTIONS[action.type](state, action);
  // After a step "undo" means the step, not the change of a row before it.
  return STEPS.has(action.type) && next.ui.acted ? { ...next, ui: { ...next.ui, acted: false } } : next;
}

const STEPS = new Set(["weight", "filter", "mark", "rank"]);

/**
 * @param {(state: State, action: Action) => void} changed called after each action
 */
export function createStore(changed) {
  let state = initialState();
  return {
    get: () => state,
    knows: (type) => type in ACTIONS,
    dispatch: (action) => {
      const next = reduce(state, action);
      if (next === state) return;
      state = next;
      changed(state, action);
    },
  };
}
