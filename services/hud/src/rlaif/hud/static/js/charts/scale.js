// From values to pixels: scales, points of a line, and outlines for SVG.

import { firstWhere } from "../screen.js";

/** @typedef {import("./axis.js").Span} Span */

const ROUND = [1, 2, 5, 10];
const MARGIN = 0.08;

/** A straight scale; a span of one value lies in the middle. @param {Span} span @param {[number, number]} range @returns {(value: number) => number} */
export function linear([from, to], [low, high]) {
  if (to === from) return () => (low + high) / 2;
  return (value) => low + ((value - from) / (to - from)) * (high - low);
}

/** Round numbers inside a span, about `most` of them. @param {Span} span @param {number} most @param {{whole?: boolean}} [options] Whole numbers alone, such as counts and steps. */
export function ticks([from, to], most, { whole = false } = {}) {
  if (!(to > from) || most < 1) return [from];
  const stride = strideOf((to - from) / most, whole);
  const first = Math.ceil(from / stride - 1e-9);
  const last = Math.floor(to / stride + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => tidy((first + index) * stride));
}

/** @param {number} least @param {boolean} whole */
function strideOf(least, whole) {
  const power = 10 ** Math.floor(Math.log10(least));
  const stride = (ROUND.find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10) * power;
  return whole ? Math.max(1, stride) : stride;
}

/** 0.30000000000000004 → 0.3. @param {number} value */
const tidy = (value) => Number(value.toPrecision(12)) + 0;

/** The span of values with some air; what is not known or no number is left out. Null when nothing is left. @param {Iterable<number | null | undefined>} values @param {{zero?: boolean, air?: number}} [options] `zero` takes 0 in, as an area needs it. @returns {Span | null} */
export function spanOf(values, { zero = false, air = MARGIN } = {}) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null || value === undefined || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return null;
  if (zero) [low, high] = [Math.min(0, low), Math.max(0, high)];
  const margin = (high - low) * air || (air ? Math.abs(high) * 0.1 || 1 : 0);
  // An end at 0 stays there: below it would look as if less than nothing were possible.
  return [low === 0 ? 0 : low - margin, high === 0 && low < 0 ? 0 : high + margin];
}

/** Where most values lie: all but a share of the lowest and of the highest. Null when none is known. @param {Iterable<number | null>} values @param {number} share @returns {Span | null} */
export function mostOf(values, share) {
  const sorted = [...values].filter((value) => value !== null && Number.isFinite(value)).map(Number).sort((a, b) => a - b);
  if (!sorted.length) return null;
  const cut = Math.floor(sorted.length * share);
  return [sorted[cut], sorted[sorted.length - 1 - cut]];
}

/** @typedef {import("./axis.js").Point} Point */

/** Index of the first point at `step` or after it; the length when there is none. @param {Point[]} points @param {number} step */
export const firstFrom = (points, step) => firstWhere(points, ([at]) => at >= step);

/** Index of the point whose step is nearest; −1 without points. @param {Point[]} points @param {number} step */
export function nearest(points, step) {
  if (!points.length) return -1;
  const after = Math.min(firstFrom(points, step), points.length - 1);
  return after > 0 && step - points[after - 1][0] < points[after][0] - step ? after - 1 : after;
}

/** What a line says at a step: its newest point up to there, for what comes after it was not known then. @param {Point[]} points @param {number} step @returns {Point | null} */
export function lastUpTo(points, step) {
  const index = firstFrom(points, step + 1) - 1;
  return index < 0 ? null : points[index];
}

/** Points inside a span and one more on each side, so that lines go on to the edge. @param {Point[]} points @param {Span} span */
export function inside(points, [first, last]) {
  const from = Math.max(0, firstFrom(points, first) - 1);
  return points.slice(from, firstFrom(points, last + 1) + 1);
}

/** First and last step over all lines; null without points. @param {Point[][]} lines @returns {Span | null} */
export function reach(lines) {
  const report = lines.filter((points) => points.length);
  if (!report.length) return null;
  return [Math.min(...report.map((points) => points[0][0])), Math.max(...report.map((points) => points[points.length - 1][0]))];
}

/** The newest point with a value; null when none has one. @param {Point[]} points @returns {Point | null} */
export function newest(points) {
  for (let index = points.length - 1; index >= 0; index -= 1) if (points[index][1] !== null) return points[index];
  return null;
}

/**
 * The point nearest to a place on the picture, within `reach` pixels; null when none is so near.
 * @param {Point[]} points @param {{x: (step: number) => number, y: (value: number) => number}} scales
 * @param {[number, number]} place @param {number} within @returns {{index: number, distance: number} | null}
 */
export function hit(points, { x, y }, [left, top], within) {
  /** @type {{index: number, distance: number} | null} */
  let best = null;
  for (let index = 0; index < points.length; index += 1) {
    const [step, value] = points[index];
    if (value === null) continue;
    const distance = Math.hypot(x(step) - left, y(value) - top);
    if (distance <= within && (best === null || distance < best.distance)) best = { index, distance };
  }
  return best;
}

/** @typedef {(value: number) => number} Scale */

/** @param {number} value */
const px = (value) => value.toFixed(1);

/** @param {Point[]} points @param {Scale} x @param {Scale} y */
export function linePath(points, x, y) {
  let path = "";
  let open = false;
  for (let index = 0; index < points.length; index += 1) {
    const [step, value] = points[index];
    if (value === null) {
      open = false;
      continue;
    }
    const alone = !open && (points[index + 1]?.[1] ?? null) === null;
    path += `${open ? "L" : "M"}${px(x(step))},${px(y(value))}${alone ? "h0" : ""}`;
    open = true;
  }
  return path;
}

/** Points of their own: a round stroke of no length each. @param {Point[]} points @param {Scale} x @param {Scale} y */
export function dotsPath(points, x, y) {
  let path = "";
  for (const [step, value] of points) if (value !== null) path += `M${px(x(step))},${px(y(value))}h0`;
  return path;
}

/** The area between two edges. @param {[number, number, number][]} edges Step and both edges. @param {Scale} x @param {Scale} y */
export function areaPath(edges, x, y) {
  if (edges.length < 2) return "";
  const there = edges.map(([step, , edge]) => `${px(x(step))},${px(y(edge))}`);
  const back = edges.map(([step, edge]) => `${px(x(step))},${px(y(edge))}`).reverse();
  return `M${[...there, ...back].join("L")}Z`;
}

/** Each step as a bar of its own, `width` steps wide; bars of no height are left out. @param {[number, number, number][]} edges @param {Scale} x @param {Scale} y @param {number} width */
export function barsPath(edges, x, y, width) {
  let path = "";
  for (const [step, from, to] of edges) {
    if (from === to) continue;
    path += `M${px(x(step - width / 2))},${px(y(from))}H${px(x(step + width / 2))}V${px(y(to))}H${px(x(step - width / 2))}Z`;
  }
  return path;
}
