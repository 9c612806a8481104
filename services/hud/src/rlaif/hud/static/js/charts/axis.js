// What several charts share: axis, cursor, shapes of their data, and what mouse and keys do.

export const LEAST_STEPS = 10; // closer than this nothing more is to be seen

/**
 * @typedef {object} Axis
 * @property {() => Span | null} all From the first step to the newest; null while nothing is known.
 * @property {() => Span | null} view What is looked at.
 * @property {() => boolean} zoomed
 * @property {(span: Span | null) => void} reach There is this much now.
 * @property {(span: Span | null) => void} show Look at a part; null: at all.
 * @property {(factor: number, about?: number | null) => void} zoom
 * @property {(share: number) => void} pan By so much of what is looked at; below 0 to the left.
 * @property {(changed: () => void) => () => void} watch
 */

/** @returns {Axis} */
export function createAxis() {
  /** @type {Span | null} */
  let all = null;
  /** @type {Span | null} */
  let part = null;
  /** @type {Set<() => void>} */
  const watchers = new Set();
  const tell = () => watchers.forEach((changed) => changed());
  /** @param {Span | null} next */
  const show = (next) => {
    const before = part;
    part = next && all ? fitted(next, all) : null;
    if (!same(before, part)) tell();
  };
  return {
    all: () => all,
    view: () => part ?? all,
    zoomed: () => part !== null,
    reach(span) {
      const before = all;
      if (same(before, span)) return;
      all = span;
      if (part && span) part = fitted(followed(part, before, span), span);
      if (!span) part = null;
      tell();
    },
    show,
    zoom(factor, about = null) {
      const view = part ?? all;
      if (view) show(zoomed(view, factor, about));
    },
    pan(share) {
      if (part) show([part[0] + share * (part[1] - part[0]), part[1] + share * (part[1] - part[0])]);
    },
    watch(changed) {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
  };
}

/** Closer by `factor` (2: half as much), about a step that stays where it is. @param {Span} view @param {number} factor @param {number | null} about @returns {Span} */
export function zoomed([first, last], factor, about) {
  const middle = about === null || about < first || about > last ? (first + last) / 2 : about;
  return [middle - (middle - first) / factor, middle + (last - middle) / factor];
}

/** A part that ended with the newest step still does when there are newer ones. @param {Span} part @param {Span | null} before @param {Span} now @returns {Span} */
export function followed(part, before, now) {
  if (!before || part[1] < before[1]) return part;
  const news = now[1] - part[1];
  return [part[0] + news, part[1] + news];
}

/** Inside of what there is, and not narrower than can be seen; null when that is all of it. @param {Span} part @param {Span} all @returns {Span | null} */
export function fitted([first, last], all) {
  const whole = all[1] - all[0];
  const width = Math.max(LEAST_STEPS, last - first);
  if (width >= whole * 0.995) return null;
  const middle = (first + last) / 2;
  const from = Math.round(Math.min(Math.max(all[0], middle - width / 2), all[1] - width));
  return [from, Math.min(all[1], Math.round(from + width))];
}

/** @param {Span | null} one @param {Span | null} other */
const same = (one, other) => one === other || (one !== null && other !== null && one[0] === other[0] && one[1] === other[1]);

export class Cursor {
  /** @type {number | null} */
  #step = null;
  /** @type {Set<(step: number | null, source: unknown) => void>} */
  #watchers = new Set();

  /** The environment step under the cursor; null when it is nowhere. */
  get() {
    return this.#step;
  }

  /** Move it. `source` is who did, so that it need not answer itself. @param {number | null} step @param {unknown} [source] */
  set(step, source = null) {
    if (step === this.#step) return;
    this.#step = step;
    for (const report of [...this.#watchers]) report(step, source);
  }

  /** Call `report(step, source)` after each move; gives a function that ends it. @param {(step: number | null, source: unknown) => void} report */
  watch(report) {
    this.#watchers.add(report);
    return () => this.#watchers.delete(report);
  }
}

/** @typedef {[number, number]} Span Two ends, the lower one first. */

/**
 * @typedef {[number, number | null] | [number, number | null, string]} Point
 * Environment step, value, and what the point stands for. A value that is not known is null.
 */

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {Point[]} points In the order of their steps; two may share one.
 * @property {number} style 1 to 7: colour, dashes and mark together.
 * @property {(value: number | null) => string} [format]
 * @property {string} [field] REST field of the newest value.
 * @property {[number, number, number][]} [band] Step, low, high: drawn behind the line.
 * @property {"line" | "dots"} [shape] Dots where each point is a thing of its own.
 * @property {boolean} [faint] Behind another line that says the same more clearly.
 * @property {boolean} [hidden] Hidden by default.
 */

/** @typedef {{step: number, label: string, href?: string, kind?: string}} Mark */

/** @typedef {import("./chart.js").TimeChart} TimeChart */

const DRAG = 6; // pixels from which a movement is no click
const STRIDE = 10; // points that Shift with an arrow moves

/** @param {TimeChart} chart */
export function listen(chart) {
  const { plot, axis } = chart;
  plot.addEventListener("keydown", (event) => press(event, chart));
  plot.addEventListener("pointermove", (event) => chart.point(place(event, plot)));
  plot.addEventListener("pointerdown", (event) => down(event, chart));
  plot.addEventListener("pointerup", (event) => up(event, chart));
  for (const name of ["pointerleave", "pointercancel"]) plot.addEventListener(name, () => (chart.isWalked ? undefined : chart.leave()));
  plot.addEventListener("dblclick", () => axis.show(null));
}

/** @param {PointerEvent} event @param {HTMLElement} plot @returns {[number, number]} */
function place(event, plot) {
  const box = plot.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** @param {PointerEvent} event @param {TimeChart} chart */
function down(event, chart) {
  if (event.button !== 0 || !chart.plan) return;
  const [left, top] = place(event, chart.plot);
  // A finger moves the cursor and scrolls the page; only a mouse marks a part.
  if (event.pointerType !== "mouse") return chart.point([left, top]);
  chart.plot.setPointerCapture(event.pointerId); // a drag may end outside
  chart.drag = { left, step: Math.round(chart.plan.stepAt(left)) };
}

/** @param {PointerEvent} event @param {TimeChart} chart */
function up(event, chart) {
  const { drag, plan } = chart;
  chart.drag = null;
  if (event.button !== 0 || !plan) return;
  const [left, top] = place(event, chart.plot);
  if (!drag || Math.abs(left - drag.left) < DRAG) return chart.open([left, top]);
  const there = Math.round(plan.stepAt(left));
  chart.axis.show([Math.min(drag.step, there), Math.max(drag.step, there)]);
}

/** @param {KeyboardEvent} event @param {TimeChart} chart */
function press(event, chart) {
  if (event.ctrlKey || event.metaKey || event.altKey || !chart.plan) return;
  const { axis } = chart;
  const step = chart.spec.cursor.get();
  const far = event.shiftKey ? STRIDE : 1;
  /** @type {Record<string, () => void>} */
  const acts = {
    ArrowLeft: () => chart.walk(-far),
    ArrowRight: () => chart.walk(far),
    Home: () => chart.walk(-Infinity),
    End: () => chart.walk(Infinity),
    "+": () => axis.zoom(2, step),
    "=": () => axis.zoom(2, step),
    "-": () => axis.zoom(0.5, step),
    0: () => axis.show(null),
    PageUp: () => axis.pan(-0.5),
    PageDown: () => axis.pan(0.5),
    Enter: () => chart.openHere(),
    Escape: () => chart.leave(),
  };
  const act = Object.hasOwn(acts, event.key) ? acts[event.key] : null;
  if (!act) return;
  event.preventDefault();
  event.stopPropagation(); // else the page's own keys would act, too
  act();
}
