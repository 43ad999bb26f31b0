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
  const half = NEAR * (high - low);
  const whole = Number.isInteger(min) && Number.isInteger(max);
  const write = (number) => {
    if (typeof min === "string") return new Date(number).toISOString().slice(0, 10);
    return whole ? Math.round(number) : Number(number.toPrecision(4));
  };
  return { ">=": write(Math.max(low, at - half)), "<=": write(Math.min(high, at + half)) };
}
