// @ts-check
/** Keeps the slots of the state filled: asks for what is missing, cancels what nobody waits for. */
import { ProblemError, call, follow } from "./api.js";
import { needs } from "./ask.js";
import { early } from "./early.js";

/** @typedef {import("./ask.js").Call} Call */

const KEPT = 200; // answers that stay at hand, so that undo and back are instant

/**
 * @param {() => State} get
 * @param {Dispatch} dispatch
 */
export function createLoader(get, dispatch) {
  /** @type {Map<string, AbortController>} */
  const running = new Map();
  /** @type {Map<string, any>} */
  const kept = new Map();

  /** @param {Call} want @param {string} key @param {boolean} hurried was another call under way? */
  async function load(want, key, hurried) {
    const { slot, method, path, body } = want;
    const control = new AbortController();
    running.set(slot, control);
    const put = (part) => {
      const was = get().slots[slot];
      dispatch({ type: "slot", name: slot, slot: { value: null, ...keptValue(was), key, ...part } });
    };
    put({ status: "loading", job: undefined });
    try {
      let value = kept.get(key);
      // The first move of a slider is asked about at once, the many that follow it now and then.
      const wait = value || (want.eager && !hurried) ? 0 : want.wait;
      if (wait) await new Promise((done) => setTimeout(done, wait));
      if (control.signal.aborted) return;
      if (!value && !get().epoch) value = await early(method, path, body);
      if (control.signal.aborted) return;
      value ??= await call(method, path, body, control.signal);
      while (value?.job) {
        await ending(value.job, put, control.signal);
        value = want.order ? null : await call(method, path, body, control.signal);
      }
      if (control.signal.aborted) return;
      if (want.order) dispatch({ type: "refresh" });
      if (want.keeps) keep(key, value);
      put({ status: "ready", value, valueKey: key, job: undefined });
    } catch (error) {
      if (control.signal.aborted) return;
      const problem =
        error instanceof ProblemError
          ? error.problem
          : { title: "The page could not read the answer", status: 0, detail: String(error) };
      put({ status: "error", problem, job: undefined });
    } finally {
      if (running.get(slot) === control) running.delete(slot);
    }
  }

  /** @param {string} key @param {any} value */
  function keep(key, value) {
    kept.delete(key);
    kept.set(key, value);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value ?? "");
  }

  return {
    /** Compare what is needed with what is there. */
    sync() {
      const state = get();
      const wanted = needs(state);
      const slots = new Set(wanted.map((want) => want.slot));
      for (const [slot, control] of running) {
        if (!slots.has(slot)) {
          control.abort();
          running.delete(slot);
          dispatch({ type: "slot", name: slot, slot: { ...get().slots[slot], key: "" } });
        }
      }
      for (const want of wanted) {
        const about = want.key ?? JSON.stringify(want.body ?? null);
        const key = `${state.epoch} ${want.method} ${want.path} ${about}`;
        if (get().slots[want.slot]?.key === key) continue;
        const before = running.get(want.slot);
        before?.abort();
        load(want, key, before !== undefined);
      }
    },
    /** Ask again for what failed. @param {string} slot */
    retry(slot) {
      const was = get().slots[slot];
      if (was) dispatch({ type: "slot", name: slot, slot: { ...was, key: "" } });
    },
  };
}

/** What stays of a slot when it is asked again. @param {Slot|undefined} was */
const keptValue = (was) => (was ? { value: was.value, valueKey: was.valueKey, job: was.job } : {});

/**
 * Wait for a job, showing its progress.
 *
 * @param {any} job its document or its id
 * @param {(part: any) => void} put
 * @param {AbortSignal} signal
 */
async function ending(job, put, signal) {
  const id = typeof job === "string" ? job : job.id;
  if (typeof job !== "string") put({ status: "job", job });
  const ended = await follow(id, (now) => put({ status: "job", job: now }), signal);
  if (ended.state === "done") return;
  throw new ProblemError(
    ended.problem ?? { title: `The work was ${ended.state}`, status: 0, detail: ended.text },
  );
}
