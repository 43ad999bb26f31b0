// @ts-check
/** The condition that a filter starts with. */
import { measure, ranged } from "../draw/scales.js";

const NEAR = 0.05; // of the range, on either side of a number

/**
 * The condition that the filter of a column starts with: rows that have about this value.
 *
 * @param {Cell|undefined} value
 * @param {Column} column
 * @returns {Object<string, any>|null} null where a column cannot be filtered by
 */
export function firstCondition(value, column) {
  if (value === undefined) return null;
  if (value === null) return { "!=": null };
  if (ranged(column)) return near(value, column);
  if (column.kind === "set" || column.kind === "sequence") {
    return Array.isArray(value) && value.length ? { contains: value[0] } : null;
  }
  if (column.kind === "text" && typeof value === "string") return { contains: value.split(/\s+/)[0] };
  if (Array.isArray(value) || typeof value === "object") return null;
  return { in: [value] };
}

/** @param {any} value @param {Column} column */
function near(value, column) {
  const { min, max } = column.summary;
  const [low, high, at] = [min, max, value].map((one) => measure(one) ?? 0);
  const share = (at - low) / (high - low || 1);
  return between(column, Math.max(0, share - NEAR), Math.min(1, share + NEAR));
}

/**
 * The condition for a part of the range of a column.
 *
 * @param {Column} column @param {number} from 0 to 1 @param {number} to
 */
export function between(column, from, to) {
  const { min, max } = column.summary;
  const [low, high] = [min, max].map((one) => measure(one) ?? 0);
  const whole = Number.isInteger(min) && Number.isInteger(max);
  const write = (share) => {
    const number = low + share * (high - low);
    if (typeof min === "string") return new Date(number).toISOString().slice(0, 10);
    return whole ? Math.round(number) : Number(number.toPrecision(4));
  };
  return { ">=": write(from), "<=": write(to) };
}

/** Which part of the range a condition keeps; null without one. @param {Column} column @param {any} condition */
export function part(column, condition) {
  if (!condition) return null;
  const [low, high] = [column.summary.min, column.summary.max].map((one) => measure(one) ?? 0);
  const share = (op, otherwise) => {
    const at = measure(condition[op]);
    return at === null ? otherwise : Math.min(1, Math.max(0, (at - low) / (high - low || 1)));
  };
  const [from, to] = [share(">=", 0), share("<=", 1)];
  return [from, Math.max(from, to)];
}
