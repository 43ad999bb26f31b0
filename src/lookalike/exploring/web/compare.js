// @ts-check
/**
 * The comparison of rows without a server: Gower's sums over the columns that `payload.py` wrote, in
 * the same order, so that the numbers are those of the library.
 */

/** Read the head (a line of JSON) and the arrays behind it. @param {ArrayBuffer} buffer */
export function readData(buffer) {
  const bytes = new Uint8Array(buffer);
  const end = bytes.indexOf(10);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  const start = buffer.slice(end + 1); // typed arrays begin at multiples of their size
  const types = { Uint8Array, Uint16Array, Uint32Array, Float32Array, Float64Array };
  const read = (place) => new types[place.type](start, place.at, place.n);
  const open = (part) =>
    Object.fromEntries(Object.entries(part).map(([name, value]) => [name, value?.type in types ? read(value) : value]));
  const columns = head.columns.map(open);
  for (const column of columns) if (column.how === "number") column.cells = Float64Array.from(column.codes, (code) => column.values[code]);
  return { ...head, columns, baseline: open(head.baseline), bytes: (place) => read(place) };
}

/** Is the cell of a row missing? @param {any} column @param {number} row */
export const missing = (column, row) => (column.gaps ? column.gaps[row] === 1 : column.codes[row] === 0);

const byHow = {
  number: ({ cells }, i, j) => Math.min(Math.abs(cells[i] - cells[j]), 1),
  equal: ({ codes }, i, j) => (codes[i] === codes[j] ? 0 : 1),
  table: ({ codes, size, table, values }, i, j) => values[table[(codes[i] - 1) * size + codes[j] - 1]],
};
byHow.flag = byHow.equal;

/** Flags that both rows lack say nothing (Gower 1971). */
const absent = ({ how, codes, values }, i, j) => how === "flag" && values[codes[i]] === 0 && values[codes[j]] === 0;

/**
 * The differences of a row to all rows in one column: NaN where a cell is missing or nothing can be
 * compared. Pairs that were not written have the mean of the row, and are marked in `guessed`.
 *
 * @param {any} data @param {any} column @param {number} i
 */
export function differences(data, column, i) {
  const n = data.rows;
  const out = new Float64Array(n).fill(NaN);
  if (missing(column, i)) return { out, guessed: null };
  if (column.how === "list") return listed(column, i, out);
  const differ = byHow[column.how];
  for (let j = 0; j < n; j += 1) if (!missing(column, j) && !absent(column, i, j)) out[j] = differ(column, i, j);
  return { out, guessed: null };
}

/** A pair is written with either of its rows. @param {any} column @param {number} i @param {Float64Array} out */
function listed({ rows, differs, usual, size, gaps }, i, out) {
  const n = out.length;
  const guessed = new Uint8Array(n).fill(1);
  out.fill(usual[i]);
  const put = (j, value) => {
    out[j] = value;
    guessed[j] = 0;
  };
  for (let at = 0; at < rows.length; at += 1) if (rows[at] === i) put(Math.floor(at / size), differs[at]);
  for (let at = i * size; at < (i + 1) * size; at += 1) put(rows[at], differs[at]);
  for (let j = 0; j < n; j += 1) if (gaps[j]) put(j, NaN);
  put(i, 0);
  return { out, guessed };
}

/** The own weight of a column times that of the question; a column may be called "constructor". */
export function weightOf(data, given, name) {
  const own = (weights) => (Object.hasOwn(weights, name) ? weights[name] : 1);
  return own(data.weights) * own(given);
}

/** The weight of each column; of columns that are one, the mean. */
export function weightsOf(data, given) {
  const one = (name) => weightOf(data, given, name);
  return data.columns.map(({ parts, dropped }) => (dropped ? 0 : parts.reduce((sum, name) => sum + one(name), 0) / parts.length));
}

/**
 * Compare a row with all rows. @param {any} data @param {number} i @param {Object<string, number>} given weights
 * @returns {{similarity: Float64Array, sure: Uint8Array, weights: number[], differs: Float64Array[]}} NaN where nothing can be compared
 */
export function compare(data, i, given) {
  const n = data.rows;
  const weights = weightsOf(data, given);
  const [against, compared] = [new Float64Array(n), new Float64Array(n)];
  const sure = new Uint8Array(n).fill(1);
  const differs = data.columns.map((column, c) => {
    const { out, guessed } = differences(data, column, i);
    const weight = weights[c];
    const lacks = missing(column, i);
    for (let j = 0; j < n; j += 1) {
      const known = out[j] === out[j];
      if (!known && data.midpoint && (lacks || missing(column, j))) out[j] = 0.5;
      if (out[j] !== out[j]) continue;
      against[j] += weight * out[j];
      compared[j] += weight;
      if (guessed?.[j] && weight) sure[j] = 0;
    }
    return out;
  });
  const similarity = against.map((value, j) => 1 - value / compared[j]);
  if (data.exact) similarity[i] = 1;
  return { similarity, sure, weights, differs };
}

/** @param {any} data @param {number} similarity */
export const distanceOf = (data, similarity) => (data.sqrt ? Math.sqrt(Math.max(0, 1 - similarity)) : 1 - similarity);

/**
 * The score of every row by Rocchio's rule: near what is wanted, far from what is not; less is better.
 *
 * @param {any} data @param {number} query @param {number[]} like @param {number[]} unlike @param {Object<string, number>} given
 */
export function scores(data, query, like, unlike, given) {
  const found = compare(data, query, given);
  const to = (row) => Array.from(row === query ? found.similarity : compare(data, row, given).similarity, (s) => distanceOf(data, s));
  const mean = (rows) => {
    const lists = rows.map(to);
    return (j) => {
      const known = lists.map((list) => list[j]).filter((value) => value === value);
      return known.reduce((a, b) => a + b, 0) / known.length;
    };
  };
  const [near, far] = [mean([query, ...like]), mean(unlike)];
  const score = Float64Array.from({ length: data.rows }, (_, j) => {
    const away = unlike.length ? far(j) : 0;
    return near(j) - data.gamma * (away === away ? away : 0);
  });
  return { ...found, score };
}

const key = (cell) => JSON.stringify(cell);
const letters = (text) => String(text).toLowerCase();

/** A condition as a test of a cell that is there. @type {Object<string, (value: any, size: (cell: any) => any) => (cell: any) => boolean>} */
const MEETS = {
  "==": (value) => (cell) => key(cell) === key(value),
  "!=": (value) => (cell) => key(cell) !== key(value),
  "<": (value, size) => (cell) => size(cell) < size(value),
  "<=": (value, size) => (cell) => size(cell) <= size(value),
  ">": (value, size) => (cell) => size(cell) > size(value),
  ">=": (value, size) => (cell) => size(cell) >= size(value),
  in: (values) => {
    const some = new Set(values.map(key));
    return (cell) => some.has(key(cell));
  },
  contains: (value) => (cell) => (Array.isArray(cell) ? cell.includes(value) : letters(cell).includes(letters(value))),
};

/** The rows that meet all conditions. @param {any} data @param {Object<string, Object<string, any>>} filter */
export function meeting(data, filter) {
  const tests = Object.entries(filter).flatMap(([name, conditions]) => {
    const cells = data.cells[name] ?? data.ids;
    const levels = data.orders[name]; // ordered levels compare by their order
    const size = (cell) => (levels ? levels.indexOf(cell) : cell);
    return Object.entries(conditions).map(([word, value]) => {
      if (value === null) return (row) => (cells[row] === null) === (word === "==");
      const test = MEETS[word](value, size);
      return (row) => cells[row] !== null && test(cells[row]);
    });
  });
  return Array.from({ length: data.rows }, (_, row) => row).filter((row) => tests.every((test) => test(row)));
}
