// Finding points of a line by their step.

/** @typedef {import("./types.js").Point} Point @typedef {import("./types.js").Span} Span */

/** Index of the first point at `step` or after it; the length when there is none. @param {Point[]} points @param {number} step */
export function firstFrom(points, step) {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < step) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the point whose step is nearest; −1 without points. @param {Point[]} points @param {number} step */
export function nearest(points, step) {
  if (!points.length) return -1;
  const after = Math.min(firstFrom(points, step), points.length - 1);
  return after > 0 && step - points[after - 1][0] < points[after][0] - step ? after - 1 : after;
}

/**
 * What a line says at a step: its newest point up to there, for what comes after it was not known then.
 * @param {Point[]} points @param {number} step @returns {Point | null}
 */
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
