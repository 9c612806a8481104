// From values to pixels and back, and round numbers for an axis.

/** @typedef {import("./types.js").Span} Span */

const ROUND = [1, 2, 5, 10];
const MARGIN = 0.08;

/**
 * A straight scale; a span of one value lies in the middle.
 * @param {Span} span
 * @param {[number, number]} range
 * @returns {(value: number) => number}
 */
export function linear([from, to], [low, high]) {
  if (to === from) return () => (low + high) / 2;
  return (value) => low + ((value - from) / (to - from)) * (high - low);
}

/**
 * Round numbers inside a span, about `most` of them.
 * @param {Span} span
 * @param {number} most
 * @param {{whole?: boolean}} [options] Whole numbers alone, such as counts and steps.
 */
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

/**
 * The span of values with some air; what is not known or no number is left out. Null when nothing is left.
 * @param {Iterable<number | null | undefined>} values
 * @param {{zero?: boolean, air?: number}} [options] `zero` takes 0 in, as an area needs it.
 * @returns {Span | null}
 */
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

/**
 * Where most values lie: all but a share of the lowest and of the highest. Null when none is known.
 * @param {Iterable<number | null>} values @param {number} share @returns {Span | null}
 */
export function mostOf(values, share) {
  const sorted = [...values].filter((value) => value !== null && Number.isFinite(value)).map(Number).sort((a, b) => a - b);
  if (!sorted.length) return null;
  const cut = Math.floor(sorted.length * share);
  return [sorted[cut], sorted[sorted.length - 1 - cut]];
}
