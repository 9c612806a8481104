// How long the calls of each route took: small histograms over one axis, and the same as a table.

import { h, s, show } from "../../dom.js";
import { UNKNOWN, count, duration } from "../../format.js";

/** @typedef {{from_seconds: number, to_seconds: number | null, calls: number}} Bucket */
/** @typedef {{name: string, route: string, latencies: Bucket[] | null}} Route */

/** @typedef {[number, number | null]} Edges  of a bucket, seconds; null: no upper edge */

const WIDTH = 108; // pixels; a phone has no more
const MOST_WIDE = 12; // of a bar
const HEIGHT = 30;

/** The buckets between the quickest call of all routes and the slowest. @param {Route[]} routes @param {number[]} edges  of all histograms @returns {Edges[]} */
export function shared(routes, edges) {
  const starts = routes.flatMap(({ latencies }) => (latencies ?? []).map(({ from_seconds: from }) => from));
  if (!starts.length) return [];
  const [least, most] = [Math.min(...starts), Math.max(...starts)];
  return [0, ...edges].map((from, index) => /** @type {Edges} */ ([from, edges[index] ?? null])).filter(([from]) => from >= least && from <= most);
}

/** "200 ms to 300 ms" @param {number} from @param {number | null} to */
export const between = (from, to) => (to === null ? `more than ${duration(from)}` : from === 0 ? `up to ${duration(to)}` : `${duration(from)} to ${duration(to)}`);

/** The calls of one bucket; 0 where the route has none there. @param {Route} route @param {number} from */
const callsAt = ({ latencies }, from) => latencies?.find((bucket) => bucket.from_seconds === from)?.calls ?? 0;

/** A bar for each bucket, as high as the route's own highest is; the table says the same. @param {Route} route @param {Edges[]} all */
export function bars(route, all) {
  if (!route.latencies) return UNKNOWN;
  const most = Math.max(...route.latencies.map(({ calls }) => calls));
  const wide = Math.min(MOST_WIDE, WIDTH / all.length);
  const [quickest, slowest] = [all[0], all[all.length - 1]];
  return s("svg", { class: "latencies", width: WIDTH, viewBox: `0 0 ${WIDTH} ${HEIGHT + 15}`, "aria-hidden": "true" },
    ...all.map(([from, to], index) => {
      const calls = callsAt(route, from);
      const high = calls ? Math.max(2, (calls / most) * HEIGHT) : 0;
      return s("g", {}, s("title", {}, `${between(from, to)}: ${count(calls)} calls`),
        s("rect", { class: "room", x: wide * index, y: 0, width: wide, height: HEIGHT }),
        calls ? s("rect", { class: "calls-bar", x: wide * index + 0.5, y: HEIGHT - high, width: wide - 1, height: high }) : null);
    }),
    s("line", { class: "axis", x1: 0, x2: wide * all.length, y1: HEIGHT + 0.5, y2: HEIGHT + 0.5 }),
    s("text", { class: "scale", x: 0, y: HEIGHT + 13 }, `${quickest[0] ? duration(quickest[0]) : "0"} – ${slowest[1] === null ? between(...slowest) : duration(slowest[1])}`));
}

/** All histograms as one table, built when opened. @param {(field: string, text: string) => HTMLElement} figure  names the REST field of a number */
export function latencyTable(figure) {
  const box = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Latencies of all routes, as a table" });
  const element = h("details", { class: "as-table", hidden: true }, h("summary", {}, "Latencies as a table"), box);
  /** @type {Route[]} */
  let routes = [];
  /** @type {Edges[]} */
  let all = [];
  const draw = () => {
    if (!element.open) return show(box);
    const [top, left] = [box.scrollTop, box.scrollLeft];
    show(box, table(routes, all, figure));
    box.scrollTop = top;
    box.scrollLeft = left;
  };
  element.addEventListener("toggle", draw);
  const update = (/** @type {Route[]} */ report, /** @type {number[]} */ edges) => {
    routes = report;
    all = shared(report, edges);
    element.hidden = !all.length;
    draw();
  };
  return { element, update };
}

/** @param {Route[]} routes @param {Edges[]} all @param {(field: string, text: string) => HTMLElement} figure */
function table(routes, all, figure) {
  const cell = (/** @type {Route} */ route, /** @type {number} */ index, /** @type {number} */ from) => {
    const at = route.latencies?.findIndex((bucket) => bucket.from_seconds === from) ?? -1;
    const text = !route.latencies ? UNKNOWN : at < 0 ? h("span", { "data-derived": true }, "0") : figure(`routes.${index}.latencies.${at}.calls`, count(route.latencies[at].calls));
    return h("td", { "data-label": route.name }, text);
  };
  return h("table", {},
    h("caption", {}, "Successful calls by latency"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Took"), ...routes.map(({ name, route }) => h("th", { scope: "col" }, name, " ", h("code", {}, route))))),
    h("tbody", {}, ...all.map(([from, to]) => h("tr", {}, h("th", { scope: "row" }, between(from, to)), ...routes.map((route, index) => cell(route, index, from))))));
}
