// @ts-check
/**
 * The map on the screen: points below, the question with lines to its neighbors above; drag to
 * move, wheel to zoom, draw around points to choose them.
 */
import { createGrid } from "./grid.js";
import { createPainter, pixels } from "./points.js";

/**
 * @typedef {Object} Picture
 * @property {{ids: any[], x: Float32Array, y: Float32Array}} map
 * @property {Uint8Array} rgba
 * @property {Float32Array} sizes
 * @property {number} query position of the row in question, -1 if it is not on the map
 * @property {number[]} hits positions of the hits
 * @property {number} hover position to mark, -1 for none
 * @property {string} label of the question
 * @property {string} hoverLabel
 * @property {Array<{x: number, y: number, text: string}>} regions names of parts of the map, the largest first
 * @property {number[]|null} poly
 * @property {string} tool
 * @property {(position: number) => void} onPick
 * @property {(position: number, x: number, y: number) => void} onPoint
 * @property {(poly: number[]) => void} onChoose
 */

/** @param {HTMLElement} host holds two canvases */
export function createPlane(host) {
  const [below, above] = /** @type {HTMLCanvasElement[]} */ ([...host.querySelectorAll("canvas")]);
  const painter = createPainter(below);
  host.dataset.painter = painter.kind;
  const context = above.getContext("2d");
  /** @type {Picture|null} */
  let picture = null;
  let frame = 0;
  let [width, height, ratio] = [1, 1, 1];
  const camera = { zoom: 1, x: 0, y: 0 };
  let xy = new Float32Array(0);
  let unit = { x: 0, y: 0, half: 1 };
  /** @type {ReturnType<typeof createGrid>} */
  let nearest = () => -1;
  /** @type {number[]} */
  let drawn = [];
  /** @type {{x: number, y: number, moved: boolean, tool: string}|null} */
  let drag = null;

  const draw = () => {
    if (!frame) frame = requestAnimationFrame(paint);
  };

  const toScreen = (x, y) => {
    const one = pixels(camera, width, height);
    return [width / 2 + (x - camera.x) * one, height / 2 - (y - camera.y) * one];
  };
  const fromScreen = (x, y) => {
    const one = pixels(camera, width, height);
    return [(x - width / 2) / one + camera.x, (height / 2 - y) / one + camera.y];
  };
  const fromMap = (x, y) => [(x - unit.x) / unit.half, (y - unit.y) / unit.half];

  function paint() {
    frame = 0;
    if (!picture || !context) return;
    painter.paint(camera, width, height, ratio);
    const style = getComputedStyle(host);
    const ink = style.color;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "13px system-ui, sans-serif";
    const spot = (i) => toScreen(xy[2 * i], xy[2 * i + 1]);
    const ring = (i, radius, line) => {
      const [x, y] = spot(i);
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.lineWidth = line + 2;
      context.strokeStyle = style.backgroundColor;
      context.stroke();
      context.lineWidth = line;
      context.strokeStyle = ink;
      context.stroke();
    };
    const { query, hits, hover } = picture;
    context.globalAlpha = 0.55;
    context.strokeStyle = ink;
    context.lineWidth = 1;
    if (query >= 0) {
      for (const i of hits) {
        context.beginPath();
        context.moveTo(...pairOf(spot(query)));
        context.lineTo(...pairOf(spot(i)));
        context.stroke();
      }
    }
    context.globalAlpha = 1;
    for (const i of hits) ring(i, 4, 1.5);
    if (hover >= 0) ring(hover, 6, 2);
    if (query >= 0) ring(query, 7, 3);
    outline(context, ink, style.accentColor);
    const boxes = query >= 0 ? [write(context, spot(query), picture.label, style)] : [];
    names(context, picture.regions, boxes, style);
    if (hover < 0) return;
    if (hover !== query && picture.hoverLabel) write(context, spot(hover), picture.hoverLabel, style);
    const [x, y] = spot(hover); // where the card stands
    host.parentElement?.style.setProperty("--x", String(Math.round(Math.min(x, width - CARD) + 14)));
    host.parentElement?.style.setProperty("--y", String(Math.round(y + 14)));
  }

  /**
   * Names of regions where they cover nothing that is written already.
   *
   * @param {CanvasRenderingContext2D} pen @param {Picture["regions"]} regions @param {number[][]} boxes @param {CSSStyleDeclaration} style
   */
  function names(pen, regions, boxes, style) {
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.lineJoin = "round";
    const told = [];
    for (const region of regions) {
      const text = cut(region.text, 28);
      const half = pen.measureText(text).width / 2;
      const [a, b] = toScreen(...pairOf(fromMap(region.x, region.y)));
      const [x, y] = [Math.min(width - half - 6, Math.max(half + 6, a)), b];
      const box = [x - half - 4, y - 10, x + half + 4, y + 10];
      if (a < 0 || a > width || box[1] < 0 || box[3] > height) continue;
      if (boxes.some(([left, top, right, low]) => left < box[2] && right > box[0] && top < box[3] && low > box[1])) continue;
      boxes.push(box);
      told.push(text);
      pen.lineWidth = 4;
      pen.strokeStyle = style.backgroundColor;
      pen.strokeText(text, x, y + 4.5);
      pen.fillStyle = style.color;
      pen.fillText(text, x, y + 4.5);
    }
    pen.textAlign = "start";
    pen.font = "13px system-ui, sans-serif";
    host.dataset.names = JSON.stringify(told);
  }

  /** @param {CanvasRenderingContext2D} pen @param {string} ink @param {string} fill */
  function outline(pen, ink, fill) {
    const given = drag && drag.tool !== "pan" ? drawn : (picture?.poly ?? []);
    if (given.length < 4) return;
    pen.beginPath();
    for (let i = 0; i < given.length; i += 2) {
      const [x, y] = toScreen(...pairOf(fromMap(given[i], given[i + 1])));
      if (i) pen.lineTo(x, y);
      else pen.moveTo(x, y);
    }
    pen.closePath();
    pen.globalAlpha = 0.12;
    pen.fillStyle = fill;
    pen.fill();
    pen.globalAlpha = 1;
    pen.setLineDash([5, 4]);
    pen.strokeStyle = ink;
    pen.lineWidth = 1.5;
    pen.stroke();
    pen.setLineDash([]);
  }

  /** @param {CanvasRenderingContext2D} pen @param {number[]} at @param {string} text @param {CSSStyleDeclaration} style */
  function write(pen, [x, y], text, style) {
    const short = cut(text, 40);
    const long = pen.measureText(short).width;
    const left = Math.max(4, Math.min(width - long - 12, x + 11));
    const top = y < 34 ? y + 12 : y - 32;
    pen.fillStyle = style.backgroundColor;
    pen.globalAlpha = 0.88;
    pen.fillRect(left, top, long + 8, 20);
    pen.globalAlpha = 1;
    pen.fillStyle = style.color;
    pen.fillText(short, left + 4, top + 14.5);
    return [left, top, left + long + 8, top + 20];
  }

  function resize() {
    width = host.clientWidth || 1;
    height = host.clientHeight || 1;
    ratio = Math.min(window.devicePixelRatio || 1, 2);
    for (const canvas of [below, above]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    draw();
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] */
  function zoom(factor, x = width / 2, y = height / 2) {
    const [a, b] = fromScreen(x, y);
    camera.zoom = Math.min(200, Math.max(0.5, camera.zoom * factor));
    const [c, d] = fromScreen(x, y);
    camera.x += a - c;
    camera.y += b - d;
    draw();
  }

  const local = (event) => {
    const box = above.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const under = (x, y) => {
    const [a, b] = fromScreen(x, y);
    const seen = (i) => (picture?.rgba[4 * i + 3] ?? 0) > 0;
    return nearest(a, b, 9 / pixels(camera, width, height), seen);
  };
  const onMap = (x, y) => {
    const [a, b] = fromScreen(x, y);
    return [a * unit.half + unit.x, b * unit.half + unit.y];
  };

  above.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), ...pairOf(local(event)));
  }, { passive: false });
  above.addEventListener("pointerdown", (event) => {
    const [x, y] = local(event);
    const tool = event.shiftKey ? "lasso" : (picture?.tool ?? "pan");
    drag = { x, y, moved: false, tool };
    drawn = tool === "pan" ? [] : onMap(x, y);
    above.setPointerCapture(event.pointerId);
  });
  above.addEventListener("pointermove", (event) => {
    const [x, y] = local(event);
    if (!drag) {
      picture?.onPoint(under(x, y), x, y);
      return;
    }
    if (Math.hypot(x - drag.x, y - drag.y) > 3) drag.moved = true;
    if (!drag.moved) return;
    if (drag.tool === "pan") {
      const one = pixels(camera, width, height);
      camera.x -= (x - drag.x) / one;
      camera.y += (y - drag.y) / one;
      drag.x = x;
      drag.y = y;
    } else if (drag.tool === "lasso") drawn = [...drawn, ...onMap(x, y)];
    else drawn = [...onMap(drag.x, drag.y), ...onMap(x, drag.y), ...onMap(x, y), ...onMap(drag.x, y)];
    draw();
  });
  above.addEventListener("pointerup", (event) => {
    const was = drag;
    drag = null;
    const [x, y] = local(event);
    if (was && !was.moved) {
      const found = under(x, y);
      if (found >= 0) picture?.onPick(found);
    } else if (was && was.tool !== "pan" && drawn.length >= 6) picture?.onChoose(thin(drawn));
    drawn = [];
    draw();
  });
  above.addEventListener("pointercancel", () => {
    drag = null;
    drawn = [];
    draw();
  });
  above.addEventListener("pointerleave", () => picture?.onPoint(-1, 0, 0));

  const watch = new ResizeObserver(resize);
  watch.observe(host);

  return {
    /** @param {Picture} next */
    show(next) {
      if (picture?.map !== next.map) {
        unit = bounds(next.map);
        xy = new Float32Array(2 * next.map.ids.length);
        for (let i = 0; i < next.map.ids.length; i += 1) {
          [xy[2 * i], xy[2 * i + 1]] = fromMap(next.map.x[i], next.map.y[i]);
        }
        painter.places(xy);
        nearest = createGrid(xy);
        Object.assign(camera, { zoom: 1, x: 0, y: 0 });
      }
      if (picture?.rgba !== next.rgba || picture.sizes !== next.sizes) painter.looks(next.rgba, next.sizes);
      picture = next;
      draw();
    },
    draw,
    zoom,
    fit() {
      Object.assign(camera, { zoom: 1, x: 0, y: 0 });
      draw();
    },
    free() {
      watch.disconnect();
      cancelAnimationFrame(frame);
      painter.free();
    },
  };
}

const CARD = 240; // pixels that the card of a row takes at most

/** @param {string} text @param {number} most letters */
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** @param {number[]} list @returns {[number, number]} */
const pairOf = (list) => [list[0], list[1]];

/** The square around all points. @param {{x: Float32Array, y: Float32Array}} map */
function bounds({ x, y }) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < x.length; i += 1) {
    left = Math.min(left, x[i]);
    right = Math.max(right, x[i]);
    low = Math.min(low, y[i]);
    high = Math.max(high, y[i]);
  }
  const half = Math.max(right - left, high - low) / 2 || 1;
  return { x: (left + right) / 2, y: (low + high) / 2, half };
}

const CORNERS = 48; // of a lasso that goes into a link

/** Fewer corners, and as many digits as matter. @param {number[]} poly */
function thin(poly) {
  const n = poly.length / 2;
  const step = Math.max(1, n / CORNERS);
  const kept = [];
  for (let i = 0; i < n; i += step) {
    const at = Math.floor(i);
    kept.push(Number(poly[2 * at].toPrecision(5)), Number(poly[2 * at + 1].toPrecision(5)));
  }
  return kept;
}
