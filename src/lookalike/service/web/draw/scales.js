// @ts-check
/** Cells as text, places on a range, colors: what all views share. */

// Okabe and Ito's palette without black and yellow, two added; told apart by colorblind people.
export const PALETTE = [
  "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8B6FD0", "#6B8E23",
];
export const OTHER = "#9AA4AD";
// Dark to light, even in lightness (a cut of viridis), for numbers.
const RAMP = [
  [68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37],
];

/** @param {number} t 0 to 1 @returns {number[]} red, green, blue from 0 to 255 */
export function ramp(t) {
  if (!Number.isFinite(t)) return [154, 164, 173];
  const at = Math.min(Math.max(t, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  return RAMP[low].map((a, i) => Math.round(a + (RAMP[low + 1][i] - a) * (at - low)));
}

/** @param {string} hex */
export function rgb(hex) {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

// Written here since the formatters of the browser take longer to make than the first list to draw.
/** @param {number} value */
const grouped = (value) => String(Math.round(value)).replaceAll(/\B(?=(\d{3})+$)/g, ",");

/** @param {number} value */
const rounded = (value) => Number(value.toPrecision(4));

/** @param {number} value a million or more */
function large(value) {
  const size = Math.abs(rounded(value));
  if (size >= 1e15) return String(rounded(value));
  const [unit, letter] = size >= 1e12 ? [1e12, "T"] : size >= 1e9 ? [1e9, "B"] : [1e6, "M"];
  return `${rounded(value / unit)}${letter}`;
}

/** @param {number} value */
export const count = grouped;

/** @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** @param {number|null|undefined} value */
export const score = (value) =>
  value === null || value === undefined ? "–" : value.toFixed(3).replace("-0.000", "0.000");

/** @param {number} share */
export function percent(share) {
  const value = 100 * share;
  return `${value >= 10 || value === 0 ? Math.round(value) : value.toFixed(1)} %`;
}

/**
 * A number as its column writes it: 1977 is a year and has no comma, 134,640 votes do.
 *
 * @param {number} value
 * @param {Column} [column]
 */
export function number(value, column) {
  if (Math.abs(value) >= 1e6) return large(value);
  const top = column?.summary?.max ?? value;
  if (Number.isInteger(value)) {
    return Math.abs(top) < 10000 ? String(value) : grouped(value);
  }
  return Math.abs(value) >= 10000 ? grouped(value) : String(rounded(value));
}

/**
 * @param {Cell|undefined} value
 * @param {Column} [column]
 * @returns {string}
 */
export function cell(value, column) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") {
    return number(value, column) + (column?.unit ? ` ${column.unit}` : "");
  }
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) {
    if (!value.length) return "none";
    const items = value.slice(0, 12).map((item) => cell(item));
    return items.join(", ") + (value.length > 12 ? ", …" : "");
  }
  if (typeof value === "object") return JSON.stringify(value);
  const day = /^(\d{4}-\d\d-\d\d)T00:00:00/.exec(value);
  return day ? day[1] : value;
}

/** Where most rows crowd at one end, equal steps would hide the difference: take a logarithm. */
export function skewed(/** @type {Column} */ { summary }) {
  const [low, high, middle] = [summary?.min, summary?.max, summary?.median].map(measure);
  return low !== null && high !== null && middle !== null && low >= 0 && middle - low < 0.02 * (high - low);
}

/** A cell as a number on the range of its column, from 0 to 1; null where it has no place. */
export function place(value, column) {
  const { min, max } = column.summary ?? {};
  const [low, high, at] = [min, max, value].map(measure);
  if (low === null || high === null || at === null) return null;
  if (high === low) return 0.5;
  const scale = skewed(column) ? (v) => Math.log1p(v - low) : (v) => v - low;
  return Math.min(Math.max(scale(at) / scale(high), 0), 1);
}

/** @param {any} value @returns {number|null} */
export function measure(value) {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) ? time : null;
}

/** Does a column lie on a range of numbers or dates? @param {Column|undefined} column */
export const ranged = (column) => column?.summary?.histogram !== undefined;

/** Is a cell a list of numbers, to be drawn as a small curve? @param {Cell|undefined} value */
export const isCurve = (value) =>
  Array.isArray(value) && value.length > 2 && value.every((v) => v === null || typeof v === "number");

/** A condition of a filter in words. @param {string} name @param {Object<string, any>} tests */
export function condition(name, tests, column) {
  const words = /** @type {Object<string, string>} */ ({
    "==": "=", "!=": "≠", ">=": "≥", "<=": "≤", in: "is", contains: "has", "not in": "is not",
  });
  const parts = Object.entries(tests).map(([op, value]) => {
    if (value === null) return op === "!=" ? "is not missing" : "is missing";
    const text = Array.isArray(value) ? value.map((v) => cell(v, column)).join(" or ") : cell(value, column);
    return `${words[op] ?? op} ${text}`;
  });
  return `${name} ${parts.join(" and ")}`;
}

/** The year beside a title: the first column that holds years or dates. @param {Column[]} columns */
export function yearColumn(columns) {
  return columns.find(({ kind, name, summary }) => {
    if (kind === "date") return true;
    const { min, max } = summary ?? {};
    return kind === "number" && /year/i.test(name) && min >= 1000 && max <= 2999;
  });
}
