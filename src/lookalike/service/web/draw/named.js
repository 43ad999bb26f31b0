// @ts-check
/** A name for some rows, from what sets them apart. */
import { cell, yearColumn } from "./scales.js";

/**
 * The strongest differences in words, those that hold for most of the rows first.
 *
 * @param {any[]} differs @param {Column[]} columns @param {number} [most] words
 * @param {boolean} [short] without the names of columns whose values tell enough
 */
export function named(differs, columns, most = 2, short = false) {
  const known = new Map(columns.map((column) => [column.name, column]));
  const shared = differs.filter(({ what, inside }) => what === "median" || what === "mean" || inside >= 0.5);
  const words = (shared.length ? shared : differs).slice(0, most).map(({ column, what, value, inside, outside }) => {
    const whose = short && typeof value === "string" ? "" : `${column} `;
    if (what === "missing") return `${column} missing`;
    if (what === "share" && inside < outside) return `not ${whose}${cell(value, known.get(column))}`;
    if (what === "share") return typeof value === "boolean" ? `${value ? "" : "not "}${column}` : `${whose}${cell(value, known.get(column))}`;
    const order = typeof inside === "number" && typeof outside === "number" && column !== yearColumn(columns)?.name;
    return order ? `${inside > outside ? "high" : "low"} ${column}` : `${column} ${cell(inside, known.get(column))}`;
  });
  return words.join(", ");
}
