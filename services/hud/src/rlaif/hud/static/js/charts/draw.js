// The picture of a chart: axes, areas, lines, dots and marks, as SVG.

import { s } from "../dom.js";
import { compact, count } from "../format.js";
import { areaPath, barsPath, dotsPath, inside, linear, linePath, mostOf, newest, spanOf, ticks } from "./scale.js";
import { stack } from "./stack.js";

/** @typedef {import("./axis.js").Line} Line @typedef {import("./axis.js").Mark} Mark @typedef {import("./axis.js").Span} Span */
/** @typedef {import("./stack.js").Layer} Layer */

export const PAD = { left: 50, right: 12, top: 16, bottom: 18 };
const PIXELS_A_STEP_NAME = 90;
const PIXELS_A_VALUE_NAME = 24;
const PEAKS = 0.03; // share of the faint points that may leave the picture, on either side
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

/**
 * Lay a chart out. Null when it has no value to show.
 * @param {{lines: Line[], parts: Line[], view: Span, bounds?: Span | null, zero?: boolean, width: number, height: number}} chart
 * @returns {Plan | null}
 */
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

/**
 * Everything but the cursor.
 * @param {Plan} at @param {{marks: Mark[], format: (value: number | null) => string, whole?: boolean, bars?: number}} how
 */
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
  const outline = (/** @type {import("./stack.js").Edge[]} */ edges) => (bars ? barsPath(edges, x, y, bars) : areaPath(edges, x, y));
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

/** @param {Plan} at @param {Mark[]} marks */
function markNames({ x, view, width }, marks) {
  const names = nameMarks(seen(marks, view).map((mark) => ({ ...mark, at: x(mark.step) })));
  return names.map((name) => s("text", { class: "mark-name", x: held(name, width), y: PAD.top - 5, "text-anchor": "middle" }, name.text));
}

/** The mark that stands nearest to a place, within some pixels. @param {Plan} at @param {Mark[]} marks @param {number} left */
export function markAt({ x, view }, marks, left, within = 8) {
  const near = seen(marks, view).map((mark) => ({ mark, distance: Math.abs(x(mark.step) - left) })).filter(({ distance }) => distance <= within);
  return near.sort((a, b) => a.distance - b.distance)[0]?.mark ?? null;
}

/** @typedef {{members: (Mark & {at: number})[], text: string, middle: number, half: number}} Name */

const LETTER = 6.5; // widest letter of a name, pixels
const GAP = 6;

/**
 * Names from left to right; `at` is where a mark stands, pixels.
 * @param {(Mark & {at: number})[]} marks @returns {Name[]}
 */
export function nameMarks(marks) {
  /** @type {Name[]} */
  const names = [];
  for (const mark of marks) {
    let name = named([mark]);
    while (names.length && touch(names[names.length - 1], name)) name = named([.../** @type {Name} */ (names.pop()).members, ...name.members]);
    names.push(name);
  }
  return names;
}

/** @param {(Mark & {at: number})[]} members @returns {Name} */
function named(members) {
  const [first, last] = [members[0], members[members.length - 1]];
  const alike = members.every(({ kind }) => kind === first.kind) && first.label !== last.label;
  const text = members.length === 1 ? first.label : alike ? `${first.label}–${last.label}` : `${first.label}…`;
  return { members, text, middle: (first.at + last.at) / 2, half: (text.length * LETTER) / 2 };
}

/** @param {Name} left @param {Name} right */
const touch = (left, right) => left.middle + left.half + GAP > right.middle - right.half;

/** Where a name may stand without leaving the picture. @param {Name} name @param {number} width */
export const held = ({ middle, half }, width) => Math.max(half, Math.min(width - half, middle));
