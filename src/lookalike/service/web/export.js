// @ts-check
/** Rows as a file: CSV with every column, for spreadsheets, or JSON as it came from the server. */

// A text that a spreadsheet would run as a formula; the shell's safe-csv has the same.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** @param {Cell|undefined} value */
function field(value) {
  if (value === null || value === undefined) return "";
  let text = Array.isArray(value) ? value.join("|") : typeof value === "object" ? JSON.stringify(value) : String(value);
  // Numbers stay numbers; the JSON file has every text as it is.
  if (typeof value !== "number" && FORMULA.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {Array<Object<string, any>>} records */
export function toCsv(records) {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const lines = [names, ...records.map((record) => names.map((name) => record[name]))];
  return `${lines.map((line) => line.map(field).join(",")).join("\r\n")}\r\n`;
}

/** The hits of an answer as records; a column named like one of ours gets a prefix. */
export function hitRecords(hits) {
  return hits.map(({ rank, id, score, similarity, distance, row }) => {
    const record = /** @type {Object<string, any>} */ ({ rank, id, score, similarity, distance });
    for (const [name, value] of Object.entries(row)) record[name in record ? `table.${name}` : name] = value;
    return record;
  });
}

/** @param {string} name @param {string} text @param {string} type */
export function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
