// @ts-check
/** Places for the nodes of a small graph: springs along links, repulsion between all pairs. */

/**
 * @typedef {{x: number, y: number}} Spot
 * @param {any[]} ids
 * @param {Array<{source: any, target: any}>} links
 * @param {Map<any, Spot>} known where nodes were before; new ones start beside what they hang on
 * @param {any} center the node that stays in the middle
 * @returns {Map<any, Spot>}
 */
export function settle(ids, links, known, center) {
  const at = new Map(ids.map((id, i) => [id, i]));
  const n = ids.length;
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  ids.forEach((id, i) => {
    const spot = known.get(id) ?? beside(id, links, known, i);
    [x[i], y[i]] = [spot.x, spot.y];
  });
  const pairs = links.map(({ source, target }) => [at.get(source) ?? 0, at.get(target) ?? 0]);
  const rounds = n > 120 ? 150 : 400;
  for (let round = 0; round < rounds; round += 1) {
    const heat = 0.12 * (1 - round / rounds) + 0.005;
    const [fx, fy] = [new Float64Array(n), new Float64Array(n)];
    for (let i = 0; i < n; i += 1) {
      for (let j = i + 1; j < n; j += 1) {
        const [dx, dy] = [x[i] - x[j], y[i] - y[j]];
        const push = 0.05 / (dx * dx + dy * dy + 0.004);
        fx[i] += dx * push;
        fy[i] += dy * push;
        fx[j] -= dx * push;
        fy[j] -= dy * push;
      }
      fx[i] -= 0.02 * x[i];
      fy[i] -= 0.02 * y[i];
    }
    for (const [i, j] of pairs) {
      const [dx, dy] = [x[i] - x[j], y[i] - y[j]];
      const long = Math.hypot(dx, dy) || 1e-6;
      const pull = (0.25 * (long - 0.3)) / long;
      fx[i] -= dx * pull;
      fy[i] -= dy * pull;
      fx[j] += dx * pull;
      fy[j] += dy * pull;
    }
    for (let i = 0; i < n; i += 1) {
      if (ids[i] === center) continue;
      const long = Math.hypot(fx[i], fy[i]) || 1e-9;
      const step = Math.min(long, heat) / long;
      x[i] += fx[i] * step;
      y[i] += fy[i] * step;
    }
  }
  return new Map(ids.map((id, i) => [id, { x: x[i], y: y[i] }]));
}

/** @param {any} id @param {any[]} links @param {Map<any, Spot>} known @param {number} i @returns {Spot} */
function beside(id, links, known, i) {
  const link = links.find(({ source, target }) => (source === id && known.has(target)) || (target === id && known.has(source)));
  const from = link ? known.get(link.source === id ? link.target : link.source) : null;
  const angle = i * 2.399963; // the golden angle: no two new nodes start at the same place
  return { x: (from?.x ?? 0) + 0.34 * Math.cos(angle), y: (from?.y ?? 0) + 0.34 * Math.sin(angle) };
}

/**
 * Where names of nodes stand without covering each other: above, below, right or left of them.
 *
 * @param {Array<{id: any, x: number, y: number, width: number}>} nodes the most important first
 * @param {number} size of the picture
 * @returns {Map<any, {x: number, y: number}>} the middle of each name that has a place
 */
export function placeNames(nodes, size) {
  const boxes = nodes.map(({ x, y }) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
  const names = new Map();
  for (const { id, x, y, width } of nodes) {
    const half = width / 2;
    const tries = [[0, -11], [0, 21], [half + 10, 4], [-half - 10, 4]];
    for (const [dx, dy] of tries) {
      const box = { left: x + dx - half, right: x + dx + half, top: y + dy - 12, bottom: y + dy + 3 };
      if (box.left < 2 || box.right > size - 2 || box.top < 2 || box.bottom > size - 2) continue;
      if (boxes.some((b) => b.left < box.right && b.right > box.left && b.top < box.bottom && b.bottom > box.top)) continue;
      boxes.push(box);
      names.set(id, { x: dx, y: dy });
      break;
    }
  }
  return names;
}
