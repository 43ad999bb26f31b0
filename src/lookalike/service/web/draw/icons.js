// @ts-check
import { h } from "./dom.js";

/** Outlines on a grid of 24, drawn with the color of the text. */
const PATHS = {
  up: "M3 11h4v10H3zM7 11l4.2-8a2.3 2.3 0 0 1 2.6 2.8L13 9.5h6a2 2 0 0 1 2 2.4l-1.5 7.5a2 2 0 0 1-2 1.6H7",
  down: "M3 13h4V3H3zM7 13l4.2 8a2.3 2.3 0 0 0 2.6-2.8L13 14.5h6a2 2 0 0 0 2-2.4l-1.5-7.5a2 2 0 0 0-2-1.6H7",
  center: "M12 2v5M12 17v5M2 12h5M17 12h5M12 7a5 5 0 1 1 0 10 5 5 0 0 1 0-10",
  filter: "M3 5h18l-7 8v6l-4-2v-4z",
  share: "M9 15l6-6M10 6l2-2a4.2 4.2 0 0 1 6 6l-2 2M14 18l-2 2a4.2 4.2 0 0 1-6-6l2-2",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M15.5 15.5L21 21",
  close: "M6 6l12 12M18 6L6 18",
  list: "M4 6h16M4 12h16M4 18h16",
  map: "M9 4L3 6.5V20l6-2.5 6 2.5 6-2.5V4l-6 2.5zM9 4v13.5M15 6.5V20",
  sliders: "M3 8h9M18 8h3M15 5v6M3 16h3M12 16h9M9 13v6",
  upload: "M12 15V4M7.5 8L12 3.5 16.5 8M4 15v5h16v-5",
  keys: "M3 6h18v12H3zM7 10h.1M11 10h.1M15 10h.1M8 14h8",
  lasso: "M12 4c5 0 9 2.5 9 6s-4 6-9 6-9-2.5-9-6 4-6 9-6M7 15c-1 2 0 4 2 5",
  box: "M4 4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M4 8V4M11 4h2M11 20h2M4 11v2M20 11v2",
  hand: "M12 3v18M3 12h18M9 6l3-3 3 3M9 18l3 3 3-3M6 9l-3 3 3 3M18 9l3 3-3 3",
};

/** @param {keyof typeof PATHS} name */
export function icon(name) {
  return h(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
    h("path", { d: PATHS[name] }),
  );
}
