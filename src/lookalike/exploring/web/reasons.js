// @ts-check
/**
 * Why two rows are alike: contributions that add up, and the columns that say most, judged against
 * the same sample of random pairs as in the library (`Explanation.reasons`).
 */
import { differences, missing } from "./compare.js";
import { cell, isCurve } from "./draw/scales.js";

const ROUND_OFF = 1e-12; // contributions up to here are not reasons

/** How surprising a difference is among others, near and far, in bits. */
function bits(others, own) {
  const [count, near, far] = [1, 1, 1].map((one, side) => others.reduce((n, d) => n + Number(side === 0 ? d === d : side === 1 ? d <= own : d >= own), one));
  return count === 1 || own !== own ? null : [near, far].map((n) => Math.abs(-Math.log2(n / count)));
}

/** How a row differs from the sample in the simple columns. @param {any} data @param {number} row */
export function view(data, row) {
  const { sample, simple } = data.baseline;
  return data.columns.slice(0, simple).map((column) => {
    const { out } = differences(data, column, row);
    return Float64Array.from(sample, (other) => out[other]);
  });
}

/**
 * What each column says for and against the likeness of two rows.
 *
 * @param {any} data @param {any} found what `compare` gave for the row in question
 * @param {number} i @param {number} j @param {Float64Array[]} own the view of row i
 */
export function explain(data, found, i, j, own) {
  const { sample, objects, mean, simple } = data.baseline;
  const other = view(data, j);
  const kept = Array.from(sample, (row) => row !== i && row !== j);
  const wide = data.columns.length - simple;
  const counted = found.weights.map((weight, c) => (found.differs[c][j] === found.differs[c][j] ? weight : 0));
  const whole = counted.reduce((a, b) => a + b, 0);
  return data.columns.map((column, c) => {
    const differs = found.differs[c][j];
    const share = whole > 0 ? counted[c] / whole : 0;
    const gone = missing(column, i) || missing(column, j);
    const among = c < simple
      ? [...own[c].filter((_, s) => kept[s]), ...other[c].filter((_, s) => kept[s])]
      : Array.from(objects.filter((_, at) => at % wide === c - simple));
    const surprise = bits(among, gone ? NaN : differs);
    return {
      column: column.name,
      plus: share ? share * (1 - differs) : 0,
      minus: share ? share * differs : 0,
      usual: mean[c] === mean[c] ? share * mean[c] : 0,
      bits: surprise,
      query: cellOf(data, column, i),
      found: cellOf(data, column, j),
    };
  });
}

const cellOf = (data, { parts }, row) => (parts.length > 1 ? parts.map((name) => data.cells[name][row]) : data.cells[parts[0]][row]);

/** The largest difference relative to its baseline, where it is unusual. */
function largestDifference(parts) {
  let best = null;
  for (const part of parts) {
    const [near, far] = part.bits ?? [0, 0];
    if (!(part.minus > Math.max(part.usual, ROUND_OFF) && far >= near)) continue;
    const ratio = part.usual > 0 ? part.minus / part.usual : Infinity;
    if (!best || ratio > best.ratio) best = { part, ratio };
  }
  return best?.part ?? null;
}

/** Columns that speak for likeness (side 0) or against it (1), the most surprising first. */
function ranked(parts, side) {
  const value = (part) => (side ? part.minus : part.plus);
  const strength = (part) => (part.plus + part.minus) * (part.bits?.[side] ?? 0);
  const speaks = ({ bits: known }) => known === null || (side === 0 ? known[0] > known[1] : known[1] !== 0);
  return parts
    .filter((part) => value(part) > ROUND_OFF && speaks(part))
    .sort((a, b) => strength(b) - strength(a) || value(b) - value(a));
}

/** The reasons for and against, each with a phrase. @param {any} data @param {any[]} parts */
export function reasonsOf(data, parts) {
  const largest = largestDifference(parts);
  let plus = ranked(parts, 0).filter((part) => part !== largest);
  const taken = new Set(plus.filter((part) => part.bits));
  let minus = ranked(parts, 1).filter((part) => !taken.has(part));
  if (largest && !minus.includes(largest)) minus = [...minus, largest];
  if (!minus.length) [plus, minus] = withLargest(parts, plus);
  const write = (some, side) => some.map((part) => ({ column: part.column, share: part[side], query: part.query, found: part.found, text: phrase(data, part, side === "plus") }));
  return { for: write(plus, "plus"), against: write(minus, "minus") };
}

/** Where no column is unusually far, the largest minus speaks against. */
function withLargest(parts, plus) {
  const differs = ({ bits: known }) => Number(!known || known[0] !== 0 || known[1] !== 0);
  const [most] = parts.filter((part) => part.minus > ROUND_OFF).sort((a, b) => differs(b) - differs(a) || b.minus - a.minus);
  if (!most || (plus.length === 1 && plus[0] === most)) return [plus, []];
  return [plus.filter((part) => part !== most), [most]];
}

/** @param {any} data @param {any} part @param {boolean} speaksFor */
function phrase(data, { column, query, found }, speaksFor) {
  if (query === null || found === null) return `${column} missing ${query === found ? "in both" : query === null ? "in the query" : "here"}`;
  const about = data.info.columns.find((one) => one.name === column);
  if (isCurve(query) && isCurve(found)) return `${column} ${speaksFor ? "alike" : "differ"}`;
  const shared = speaksFor && Array.isArray(query) && Array.isArray(found) ? query.filter((item) => found.includes(item)) : [];
  if (shared.length) return `same ${column}: ${cell(shared, about)}`;
  const [one, other] = [cell(query, about), cell(found, about)];
  if (one === other && speaksFor) return `same ${column}: ${one}`;
  return `${column} ${one} ${speaksFor ? "and" : "against"} ${other}`;
}
