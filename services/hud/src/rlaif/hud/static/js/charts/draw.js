// The picture of a chart: axes, areas, lines, dots and marks, as SVG.

import { s } from "../dom.js";
import { compact, count } from "../format.js";
import { areaPath, barsPath, dotsPath, inside, linear, linePath, mostOf, newest, spanOf, ticks } from "./scale.js";

/** @typedef {import("./axis.js").Line} Line @typedef {import("./axis.js").Mark} Mark @typedef {import("./axis.js").Span} Span */
export const PAD = { left: 50, right: 12, top: 16, bottom: 18 };
const PIXELS_A_STEP_NAME = 90;
const PIXELS_A_VALUE_NAME = 24;
const PEAKS = 0.03; // share of the faint points that may leave the picture, on either side
const LETTER = 6.5; // widest letter of a label, pixels
const GAP = 6; // between two labels
const EDGE = 3; // pixels beyond the axes for what lies right on them

/**
 * @typedef {object} Plan What is drawn where.
 * @property {Line[]} lines
 * @property {(Layer & {style: number})[]} layers
 * @property {(step: number) => number} x
 * @property {(value: number) => number} y
 * @property {(left: number) => number} stepAt
 * @property {Span} view
 * @property {Span} values
 * @property {number} width
 * @property {number} height
 */

/** Lay a chart out. Null when it has no value to show. @param {{lines: Line[], parts: Line[], view: Span, bounds?: Span | null, zero?: boolean, width: number, height: number}} chart @returns {Plan | null} */
export function plan({ lines, parts, view, bounds = null, zero = false, width, height }) {
  const shown = lines.map((line) => ({ ...line, points: inside(line.points, view) }));
  const layers = stack(parts.map((part) => ({ ...part, points: inside(part.points, view) })))
    .map((layer, index) => ({ ...layer, style: parts[index].style }));
  const values = bounds ?? spanOf(heights(shown, layers), { zero: zero || parts.length > 0 });
  if (!values || ![...lines, ...parts].some(({ points }) => newest(points))) return null;
  const room = /** @type {Span} */ ([PAD.left + 4, width - PAD.right - 4]);
  return {
    lines: shown, layers, view, values, width, height,
    x: linear(view, room),
    y: linear(values, [height - PAD.bottom, PAD.top]),
    stepAt: linear(room, view),
  };
}

/** @param {Line[]} lines @param {Layer[]} layers */
function* heights(lines, layers) {
  const isClear = lines.some(({ faint }) => !faint);
  for (const { points, band, faint } of lines) {
    if (faint && isClear) {
      // Single points jump: with all of them in sight the line that matters would look flat.
      yield* mostOf(points.map(([, value]) => value), PEAKS) ?? [];
      continue;
    }
    for (const [, value] of points) yield value;
    for (const [, low, high] of band ?? []) yield* [low, high];
  }
  for (const { above, below } of layers) for (const [, , edge] of [...above, ...below]) yield edge;
}

/** Everything but the cursor. @param {Plan} at @param {{marks: Mark[], format: (value: number | null) => string, whole?: boolean, bars?: number}} how */
export function picture({ ...at }, { marks, format, whole = false, bars = 0 }) {
  const { width, height } = at;
  if (bars) at.lines = []; // the line of a sum would jump up and down before its bars
  const left = PAD.left;
  const [top, inner, tall] = [PAD.top - EDGE, width - left - PAD.right, height - PAD.top - PAD.bottom + 2 * EDGE];
  const field = s("svg", { x: left, y: top, width: inner, height: tall, viewBox: `${left} ${top} ${inner} ${tall}` },
    ...areas(at, bars), ...markLines(at, marks), ...at.lines.flatMap((line) => drawn(line, at)));
  return [...axes(at, format, whole), field, ...markNames(at, marks), ...ends(at)];
}

/** @param {Plan} at @param {(value: number | null) => string} format @param {boolean} whole */
function axes({ x, y, view, values, width, height }, format, whole) {
  const [left, right, floor] = [PAD.left, width - PAD.right, height - PAD.bottom];
  const most = Math.max(2, Math.floor((floor - PAD.top) / PIXELS_A_VALUE_NAME));
  const lines = ticks(values, most, { whole }).flatMap((value) => [
    s("line", { class: value === 0 ? "axis zero" : "axis", x1: left, x2: right, y1: y(value), y2: y(value) }),
    s("text", { class: "scale", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)),
  ]);
  const steps = ticks(view, Math.max(2, Math.floor((right - left) / PIXELS_A_STEP_NAME)), { whole: true }).map((step) => {
    const at = x(step);
    const anchor = at < left + 24 ? "start" : at > right - 24 ? "end" : "middle";
    return s("text", { class: "scale", x: at, y: height - 4, "text-anchor": anchor }, stepName(step, view));
  });
  return [...lines, ...steps];
}

/** As short as tells neighbours apart. @param {number} step @param {Span} view */
const stepName = (step, [first, last]) => (last - first < last / 20 ? count(step) : compact(step));

/** @param {Plan} at @param {number} bars */
function areas({ layers, lines, x, y }, bars) {
  const bands = lines.filter(({ band }) => band).map(({ band, style }) => s("path", { class: "band", "data-style": style, d: areaPath(band ?? [], x, y) }));
  const outline = (/** @type {Edge[]} */ edges) => (bars ? barsPath(edges, x, y, bars) : areaPath(edges, x, y));
  const parts = layers.map(({ above, below, style }) => s("path", { class: "part", "data-style": style, d: outline(above) + outline(below) }));
  return [...bands, ...parts];
}

/** @param {Line} line @param {Plan} at */
function drawn({ points, style, shape, faint }, { x, y }) {
  if (shape === "dots") return [s("path", { class: "dots", "data-style": style, d: dotsPath(points, x, y) })];
  return [s("path", { class: faint ? "line faint" : "line", "data-style": style, d: linePath(points, x, y) })];
}

/** @param {Plan} at */
function ends({ lines, x, y, view }) {
  return lines.filter(({ shape, faint }) => shape !== "dots" && !faint).flatMap(({ points, style }) => {
    const last = newest(points);
    if (!last || last[0] > view[1] || last[0] < view[0]) return [];
    return [s("circle", { class: "end", "data-style": style, cx: x(last[0]), cy: y(/** @type {number} */ (last[1])), r: 3 })];
  });
}

/** @param {Mark[]} marks @param {Span} view */
const seen = (marks, [first, last]) => marks.filter(({ step }) => step >= first && step <= last).sort((a, b) => a.step - b.step);

/** @param {Plan} at @param {Mark[]} marks */
function markLines({ x, view, height }, marks) {
  return seen(marks, view).map(({ step, label, kind }) => s("line", { class: "mark", "data-kind": kind ?? "load", "data-load": `${label} ${step}`, x1: x(step), x2: x(step), y1: PAD.top - EDGE, y2: height - PAD.bottom }));
}

/** Labels from the newest mark to the oldest; one that would touch a newer one is left out. @param {Plan} at @param {Mark[]} marks */
function markNames({ x, view, width }, marks) {
  let left = Infinity;
  return seen(marks, view).reverse().flatMap(({ step, label }) => {
    const half = (label.length * LETTER) / 2;
    const middle = Math.max(half, Math.min(width - half, x(step)));
    if (middle + half + GAP > left) return [];
    left = middle - half;
    return [s("text", { class: "mark-name", x: middle, y: PAD.top - 5, "text-anchor": "middle" }, label)];
  }).reverse();
}

/** The mark that stands nearest to a place, within some pixels. @param {Plan} at @param {Mark[]} marks @param {number} left */
export function markAt({ x, view }, marks, left, within = 8) {
  const near = seen(marks, view).map((mark) => ({ mark, distance: Math.abs(x(mark.step) - left) })).filter(({ distance }) => distance <= within);
  return near.sort((a, b) => a.distance - b.distance)[0]?.mark ?? null;
}

/** @typedef {import("./axis.js").Point} Point */
/** @typedef {{name: string, points: Point[]}} Part */
/** @typedef {[number, number, number]} Edge Step, and both edges of a part there. */
/** @typedef {{name: string, above: Edge[], below: Edge[]}} Layer A part that changes its sign is cut at zero, so that it never lies across others. */

export const UNEXPLAINED = "unexplained";
const EXACT = 1e-6;

/** Layers of parts that share their steps; a part that is not known at a step is left out there. @param {Part[]} parts @returns {Layer[]} */
export function stack(parts) {
  const count = Math.max(0, ...parts.map(({ points }) => points.length));
  const [top, bottom] = [new Float64Array(count), new Float64Array(count)];
  return parts.map(({ name, points }) => {
    const edges = (/** @type {Float64Array} */ side, /** @type {(value: number) => number} */ taken) =>
      points.map(([step, value], index) => {
        const from = side[index];
        side[index] += taken(value ?? 0);
        return /** @type {Edge} */ ([step, from, side[index]]);
      });
    return { name, above: edges(top, (value) => Math.max(0, value)), below: edges(bottom, (value) => Math.min(0, value)) };
  });
}

/** Sum of the parts at one index; null when none of them is known there. @param {Part[]} parts @param {number} index @returns {number | null} */
export function sumAt(parts, index) {
  const known = parts.map(({ points }) => points[index]?.[1] ?? null).filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) : null;
}

/** What the parts leave of their total, as a part of its own; null when they sum to it everywhere. @param {Part[]} parts @param {Point[]} total @returns {Part | null} */
export function residual(parts, total) {
  const points = total.map(([step, value], index) => {
    const sum = sumAt(parts, index);
    const left = value === null || sum === null ? 0 : value - sum;
    return /** @type {Point} */ ([step, isExact(left, value) ? 0 : left]);
  });
  return points.some(([, value]) => value !== 0) ? { name: UNEXPLAINED, points } : null;
}

/** Whether what is left is no more than rounding. @param {number} left @param {number | null} value */
export const isExact = (left, value) => Math.abs(left) < EXACT * (1 + Math.abs(value ?? 0));
