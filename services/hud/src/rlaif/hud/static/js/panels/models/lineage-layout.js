// Where the points of the lineage lie: versions and refused candidates in the order of time. Pure.

/**
 * @typedef {object} Attempt
 * @property {string} key
 * @property {number | null} version  null: a candidate that the gate refused
 * @property {number | null} parent
 * @property {number} at  ms since 1970
 * @property {number | null} value  held-out accuracy
 * @property {number | null} low  ends of its interval
 * @property {number | null} high
 *
 * @typedef {Attempt & {x: number, y: number | null, yLow: number | null, yHigh: number | null}} Placed
 * @typedef {{points: Placed[], edges: {from: Placed, to: Placed}[], bounds: [number, number], hidden: number}} Layout
 */

export const MOST = 60; // points; more would touch each other

/** The range of the axis: all that is shown, chance always. @param {Attempt[]} attempts @returns {[number, number]} */
export function boundsOf(attempts) {
  const values = attempts.flatMap(({ value, low, high }) => [value, low, high]).filter((each) => each !== null);
  const low = Math.min(0.5, ...values);
  return [Math.max(0, Math.floor(low * 10) / 10), 1];
}

/**
 * @param {Attempt[]} attempts  in any order
 * @param {{width: number, height: number, left: number, right: number, top: number, bottom: number}} box
 * @returns {Layout}
 */
export function layout(attempts, { width, height, left, right, top, bottom }) {
  const ordered = [...attempts].sort((a, b) => a.at - b.at || (a.version ?? 0) - (b.version ?? 0));
  const shown = ordered.slice(-MOST);
  const [low, high] = boundsOf(shown);
  const y = (/** @type {number | null} */ value) => (value === null ? null : height - bottom - ((value - low) / (high - low)) * (height - top - bottom));
  const step = (width - left - right) / Math.max(1, shown.length - 1);
  const points = shown.map((each, index) => ({
    ...each,
    x: shown.length === 1 ? (left + width - right) / 2 : left + index * step,
    y: y(each.value), yLow: y(each.low), yHigh: y(each.high),
  }));
  const byVersion = new Map(points.filter(({ version }) => version !== null).map((point) => [point.version, point]));
  const edges = points.flatMap((to) => {
    const from = to.parent === null ? undefined : byVersion.get(to.parent);
    return from && from.y !== null && to.y !== null ? [{ from, to }] : [];
  });
  return { points, edges, bounds: [low, high], hidden: ordered.length - shown.length };
}

/** Every how manyth of `count` names fits into `width` when each takes `each` pixels. @param {number} count @param {number} width @param {number} each */
export const everyNth = (count, width, each) => Math.max(1, Math.ceil((count * each) / Math.max(1, width)));
