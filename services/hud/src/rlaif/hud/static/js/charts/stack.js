// Parts on top of each other: what adds stands above zero, what takes away hangs below.

/** @typedef {import("./axis.js").Point} Point */
/** @typedef {{name: string, points: Point[]}} Part */
/** @typedef {[number, number, number]} Edge Step, and both edges of a part there. */
/** @typedef {{name: string, above: Edge[], below: Edge[]}} Layer A part that changes its sign is cut at zero, so that it never lies across others. */

export const UNEXPLAINED = "unexplained";
const EXACT = 1e-6;

/**
 * Layers of parts that share their steps; a part that is not known at a step is left out there.
 * @param {Part[]} parts @returns {Layer[]}
 */
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

/**
 * What the parts leave of their total, as a part of its own; null when they sum to it everywhere.
 * @param {Part[]} parts @param {Point[]} total @returns {Part | null}
 */
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
