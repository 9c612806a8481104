// A chart over environment steps: lines or stacked parts, one cursor and one axis with its neighbours.

import { h, s, setText, show } from "../dom.js";
import { createAxis, listen } from "./axis.js";
import { markAt, PAD, picture, plan, residual, sumAt, UNEXPLAINED } from "./draw.js";
import { hit, lastUpTo, nearest, reach } from "./scale.js";
import { atStep, Legend, summary, tableOf } from "./words.js";

/** @typedef {import("./axis.js").Line} Line @typedef {import("./axis.js").Mark} Mark @typedef {import("./axis.js").Point} Point */
/** @typedef {{get: () => number | null, set: (step: number | null, source?: unknown) => void, watch: (changed: (step: number | null, source?: unknown) => void) => () => void}} Cursor */

/**
 * @typedef {object} Spec
 * @property {string} name
 * @property {boolean} [untitled] Its panel has the name already.
 * @property {string} [note] How the values are computed, such as "Mean of 20 segments".
 * @property {Line[]} series
 * @property {(value: number | null) => string} format Of the values on the axis, and of a sum.
 * @property {boolean | {total: Point[], field?: string}} [stacked] Series are parts of a sum; what they leave of `total` is shown.
 * @property {number} [bars] Stacked parts as bars so many steps wide.
 * @property {Mark[]} [marks]
 * @property {import("./axis.js").Span | null} [bounds] Of the values; else as they come.
 * @property {boolean} [zero] 0 is always in the picture.
 * @property {boolean} [whole] Values are whole numbers.
 * @property {Cursor} cursor
 * @property {import("./axis.js").Axis} [axis] Shared with other charts; else it has one of its own.
 * @property {(point: Point) => void} [onPick] Click or Enter on a point that stands for something.
 * @property {(href: string) => void} [onMark]
 * @property {string} [none] Said while nothing is known.
 * @property {number} [height] Pixels.
 */

const HEIGHT = 132;
const NEAR = 14; // pixels between a click and the point that is meant
const ALL = "all series";
const HINT = "Arrow keys move between points, plus and minus zoom, 0 shows all, Enter opens the selected point, Escape clears the selection.";
const UNSURE = /** @type {Line} */ ({ name: UNEXPLAINED, points: [], style: 0 });

/** @param {HTMLElement} root @param {Spec} spec @returns {{update: (spec: Partial<Spec>) => void, destroy: () => void, readonly held: boolean}} `held` while the pointer is inside. */
export function timeChart(root, spec) {
  return new TimeChart(root, spec);
}

export class TimeChart {
  /** @type {import("./draw.js").Plan | null} */
  #plan = null;
  /** @type {{line: string, index: number} | null} */
  #focus = null;
  /** Where a mouse button went down, while it is. @type {{left: number, step: number} | null} */
  drag = null;
  /** @type {Set<string>} */
  #hidden;
  #frame = 0;

  /** @param {HTMLElement} root @param {Spec} spec */
  constructor(root, spec) {
    this.spec = spec;
    this.axis = spec.axis ?? createAxis();
    this.#hidden = new Set(spec.series.filter(({ hidden }) => hidden).map(({ name }) => name));
    this.legend = new Legend((name) => this.#toggle(name));
    this.svg = s("svg", { "aria-hidden": "true", height: this.#height });
    this.over = s("g", { class: "over" });
    this.none = h("p", { class: "empty" });
    this.plot = h("div", { class: "plot", tabindex: "0", role: "slider", "aria-label": spec.name, "aria-roledescription": "chart", "aria-description": HINT }, this.svg, this.none);
    this.plot.style.height = `${this.#height}px`;
    this.note = h("span", { class: "note" }, spec.note ?? "");
    this.table = tableOf(spec.name, () => this.#all());
    this.root = root;
    this.figure = h("figure", { class: "time-chart", "data-stacked": Boolean(spec.stacked) }, h("div", { class: "chart-head" }, spec.untitled ? null : h("h3", {}, spec.name), this.note), this.legend.element, this.plot, this.table.element);
    show(root, this.figure);
    listen(this);
    this.size = new ResizeObserver(() => this.#redraw());
    this.size.observe(this.plot);
    this.unwatch = [this.axis.watch(() => this.#redraw()), spec.cursor.watch((_, source) => this.#followed(source))];
    this.update({});
  }

  /** @param {Partial<Spec>} next */
  update(next) {
    this.spec = { ...this.spec, ...next };
    setText(this.note, this.spec.note ?? "");
    if (!this.spec.axis) this.axis.reach(reach(this.#all().map(({ points }) => points)));
    this.legend.update(this.#all(), this.#hidden);
    this.table.refresh();
    this.#redraw();
  }

  destroy() {
    cancelAnimationFrame(this.#frame);
    this.size.disconnect();
    this.unwatch.forEach((stop) => stop());
    show(this.root);
  }

  get #height() {
    return this.spec.height ?? HEIGHT;
  }

  /** All that the legend names: of a stack also its sum, and what its parts do not explain. @returns {Line[]} */
  #all() {
    const { series, stacked, format } = this.spec;
    if (!stacked) return series;
    const total = typeof stacked === "object" ? stacked.total : (series[0]?.points ?? []).map(([step], index) => /** @type {Point} */ ([step, sumAt(series, index)]));
    const left = residual(series, total);
    const sum = { name: ALL, points: total, style: 8, format, field: typeof stacked === "object" ? stacked.field : undefined };
    return [sum, ...series, ...(left ? [{ ...UNSURE, ...left, format }] : [])];
  }

  #shown() {
    return this.#all().filter(({ name }) => !this.#hidden.has(name));
  }

  /** @param {string} name */
  #toggle(name) {
    if (!this.#hidden.delete(name)) this.#hidden.add(name);
    this.#focus = null;
    this.legend.update(this.#all(), this.#hidden);
    this.#redraw();
  }

  #redraw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    const width = this.plot.clientWidth;
    if (!width) return; // no layout yet: the observer reports it
    const { spec, axis } = this;
    const shown = this.#shown();
    const isPart = (/** @type {Line} */ line) => Boolean(spec.stacked) && line.name !== ALL;
    const view = axis.view();
    this.#plan = view && plan({ lines: shown.filter((line) => !isPart(line)), parts: shown.filter(isPart), view, bounds: spec.bounds, zero: spec.zero, width, height: this.#height });
    this.svg.setAttribute("width", String(width));
    this.svg.toggleAttribute("hidden", !this.#plan);
    setText(this.none, this.#plan ? "" : (spec.none ?? "No data yet."));
    if (this.#plan) show(this.svg, ...picture(this.#plan, { marks: spec.marks ?? [], format: spec.format, whole: spec.whole, bars: spec.bars }), this.over);
    this.#point();
  }

  /** Cursor, values of the legend, and words: what changes with each movement. */
  #point() {
    const { cursor, marks = [], name } = this.spec;
    const step = cursor.get();
    const lines = this.#shown();
    const focus = this.#focused();
    const values = new Map(this.#all().map((line) => [line.name, focus?.line.name === line.name ? focus.point[1] : ((step === null ? line.points.at(-1) : lastUpTo(line.points, step))?.[1] ?? null)]));
    this.legend.values(values, step === null);
    this.plot.setAttribute("aria-valuetext", step === null ? summary({ name, lines, marks }) : atStep({ lines, marks, step, point: focus }));
    const view = this.axis.view() ?? [0, 0];
    for (const [what, value] of Object.entries({ min: view[0], max: view[1], now: step ?? view[1] })) this.plot.setAttribute(`aria-value${what}`, String(Math.round(value)));
    this.#drawCursor(step, focus);
  }

  /** @param {number | null} step @param {{line: Line, point: Point} | null} focus */
  #drawCursor(step, focus) {
    const at = this.#plan;
    if (!at || step === null || step < at.view[0] || step > at.view[1]) return show(this.over);
    const rule = s("line", { class: "cursor", x1: at.x(step), x2: at.x(step), y1: PAD.top - 3, y2: this.#height - PAD.bottom });
    const ring = focus && focus.point[1] !== null ? s("circle", { class: "focus", "data-style": focus.line.style, cx: at.x(focus.point[0]), cy: at.y(focus.point[1]), r: 6 }) : null;
    const drag = this.drag ? s("rect", { class: "drag", x: Math.min(at.x(this.drag.step), at.x(step)), width: Math.abs(at.x(step) - at.x(this.drag.step)), y: PAD.top, height: this.#height - PAD.top - PAD.bottom }) : null;
    show(this.over, drag, rule, ring);
  }

  /** @returns {{line: Line, point: Point} | null} */
  #focused() {
    const line = this.#focus && this.#shown().find(({ name }) => name === this.#focus?.line);
    const point = line?.points[this.#focus?.index ?? -1];
    return line && point ? { line, point } : null;
  }

  /** @param {unknown} source */
  #followed(source) {
    if (source !== this) this.#focus = null;
    this.#point();
  }

  /** The view and the scales of the picture; null while there is none. */
  get plan() {
    return this.#plan;
  }

  /** What stands near a place of the picture gets the cursor, or else the step there. @param {[number, number]} place */
  point([left, top]) {
    const at = this.#plan;
    if (!at) return;
    this.#focus = this.drag ? null : this.#hit([left, top]);
    const point = this.#focused();
    this.plot.classList.toggle("pickable", Boolean(point && this.#meaning(point.point)));
    this.#move(point ? point.point[0] : Math.round(Math.max(at.view[0], Math.min(at.view[1], at.stepAt(left)))));
  }

  /** Open what stands near a place of the picture. @param {[number, number]} place */
  open([left, top]) {
    this.#focus = this.#hit([left, top]);
    const point = this.#focused();
    if (point && this.#meaning(point.point)) this.spec.onPick?.(point.point);
    else if (this.#plan && top <= PAD.top + 2) this.#openMark(markAt(this.#plan, this.spec.marks ?? [], left));
    this.#point();
  }

  /** Open what the cursor stands on. */
  openHere() {
    const point = this.#focused();
    const step = this.spec.cursor.get();
    if (point && this.#meaning(point.point)) this.spec.onPick?.(point.point);
    else this.#openMark((this.spec.marks ?? []).find((mark) => mark.step === step) ?? null);
  }

  /** To another point of the line whose points can be opened, or else of the first one. @param {number} by */
  walk(by) {
    const shown = this.#shown();
    const line = (this.spec.onPick && shown.find(({ points }) => points[0]?.[2] !== undefined)) || shown.find(({ points }) => points.length);
    if (!line) return;
    const step = this.spec.cursor.get();
    const last = line.points.length - 1;
    const from = this.#focus?.line === line.name ? this.#focus.index : step === null ? last + (by < 0 ? 1 : 0) : nearest(line.points, step);
    const index = Math.max(0, Math.min(last, from + by));
    this.#focus = { line: line.name, index };
    const at = line.points[index][0];
    const view = this.axis.view();
    if (view && (at < view[0] || at > view[1])) this.axis.show([at - (view[1] - view[0]) / 2, at + (view[1] - view[0]) / 2]);
    this.#move(at);
  }

  /** Take the cursor away. */
  leave() {
    this.drag = null;
    this.#focus = null;
    this.#move(null);
  }

  /** Whether mouse or keyboard moves the cursor here. */
  get held() {
    return this.isWalked || this.plot.matches(":hover");
  }

  /** Whether the keyboard stands on a point here; then a mouse that passes by leaves it there. */
  get isWalked() {
    return document.activeElement === this.plot && this.#focus !== null;
  }

  /** @param {number | null} step */
  #move(step) {
    if (this.spec.cursor.get() === step) this.#point();
    else this.spec.cursor.set(step, this);
  }

  /** @param {[number, number]} place */
  #hit(place) {
    const at = this.#plan;
    if (!at || this.spec.stacked) return null;
    /** @type {{line: string, index: number, distance: number} | null} */
    let best = null;
    for (const { name, points } of this.#shown()) {
      const found = hit(points, at, place, NEAR);
      if (found && (!best || found.distance < best.distance)) best = { line: name, ...found };
    }
    return best;
  }

  /** @param {Point} point */
  #meaning(point) {
    return this.spec.onPick && point[2] !== undefined ? point : null;
  }

  /** @param {Mark | null} mark */
  #openMark(mark) {
    if (mark?.href) this.spec.onMark?.(mark.href);
  }
}
