// Outlines for SVG. A value that is not known breaks a line: nothing is drawn through it.

/** @typedef {import("./types.js").Point} Point */
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
