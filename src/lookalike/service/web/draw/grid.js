// @ts-check
/** Points sorted into the cells of a grid, to find the one under the pointer without a search. */

/** @param {Float32Array} xy x and y in turn, in -1 to 1 */
export function createGrid(xy) {
  const n = xy.length / 2;
  const side = Math.max(1, Math.min(256, Math.round(Math.sqrt(n / 4))));
  const cell = (value) => Math.min(side - 1, Math.max(0, Math.floor(((value + 1) / 2) * side)));
  const starts = new Uint32Array(side * side + 1);
  for (let i = 0; i < n; i += 1) starts[cell(xy[2 * i + 1]) * side + cell(xy[2 * i]) + 1] += 1;
  for (let i = 0; i < side * side; i += 1) starts[i + 1] += starts[i];
  const next = starts.slice(0, -1);
  const sorted = new Uint32Array(n);
  for (let i = 0; i < n; i += 1) {
    const at = cell(xy[2 * i + 1]) * side + cell(xy[2 * i]);
    sorted[next[at]] = i;
    next[at] += 1;
  }
  /**
   * The nearest point within a radius; -1 if there is none.
   *
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   * @param {(i: number) => boolean} seen
   */
  return function nearest(x, y, radius, seen) {
    let best = -1;
    let least = radius * radius;
    for (let row = cell(y - radius); row <= cell(y + radius); row += 1) {
      for (let column = cell(x - radius); column <= cell(x + radius); column += 1) {
        const at = row * side + column;
        for (let k = starts[at]; k < starts[at + 1]; k += 1) {
          const i = sorted[k];
          const away = (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2;
          if (away <= least && seen(i)) {
            least = away;
            best = i;
          }
        }
      }
    }
    return best;
  };
}
