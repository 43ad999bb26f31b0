// @ts-check
/** Cells and rows from what was typed. */

/** A cell from what was typed. @param {string} text @param {Column} column */
export function readCell(text, column) {
  if (text === "") return null;
  if (column.kind === "number") {
    const value = Number(text.replaceAll(",", ""));
    return Number.isFinite(value) ? value : text; // the server says what is wrong with it
  }
  if (column.kind === "set" || column.kind === "sequence") return text.split(/[,|+]/).map((item) => item.trim()).filter(Boolean);
  if (["histogram", "vector", "series"].includes(column.kind)) return text.split(/[,\s]+/).map(Number);
  const counts = column.summary?.counts ?? [];
  const known = counts.find(([value]) => String(value).toLowerCase() === text.toLowerCase());
  return known ? known[0] : text;
}

/**
 * Read "year: 1990, genres: Comedy" as a record, with the names that no column has; null if it is
 * not a description of a row.
 *
 * @param {string} text
 * @param {Column[]} columns
 * @returns {{record: Object<string, any>, unknown: string[]}|null}
 */
export function describe(text, columns) {
  /** @type {Object<string, any>} */
  const record = {};
  /** @type {string[]} */
  const unknown = [];
  for (const part of text.split(/[,;](?=[^,;:=]*[:=])/)) {
    const [, name, value] = /^\s*([^:=]+?)\s*[:=]\s*(.+?)\s*$/.exec(part) ?? [];
    if (!name) continue; // the rest of what is being typed
    const column = columns.find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (column) record[column.name] = readCell(value, column);
    else unknown.push(name);
  }
  return Object.keys(record).length ? { record, unknown } : null;
}
