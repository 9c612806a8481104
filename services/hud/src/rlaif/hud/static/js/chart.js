// A small line chart over environment steps, with marks where the trainer loaded a reward model.

import { h, s, show } from "./dom.js";
import { compact, count } from "./format.js";
import { empty } from "./parts.js";

const HEIGHT = 150;
const PAD = { left: 44, right: 52, top: 16, bottom: 20 };

/** Draw `points` ([[step, value], …]) into `element`; `steps` ([first, last]) is the axis. */
export function drawChart(element, { points, versions, steps, format, bounds = null, name, none, caption }) {
  if (points.length < 2) {
    show(element, empty(none));
    return;
  }
  const width = Math.max(240, element.clientWidth);
  const x = scale(steps[0], steps[1], PAD.left, width - PAD.right);
  const [low, high] = bounds ?? range(points.map(([, value]) => value));
  const y = scale(low, high, HEIGHT - PAD.bottom, PAD.top);
  const svg = s("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": describe(name, points, versions, format) },
    ...axes({ low, high, x, y, width, format, steps }),
    ...marks(versions, steps, x),
    s("polyline", { class: "line", points: points.map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(" ") }),
    ...newest(points.at(-1), x, y, format));
  const note = h("figcaption", {}, caption);
  follow(svg, { points, x, note, format, caption, width });
  show(element, h("figure", {}, svg, note));
}

function axes({ low, high, x, y, width, format, steps }) {
  const lines = [low, high].map((value) => s("line", { class: "axis", x1: PAD.left, x2: width - PAD.right, y1: y(value), y2: y(value) }));
  const names = [low, high].map((value) => s("text", { x: PAD.left - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)));
  const zero = low < 0 && high > 0 ? [s("line", { class: "axis", x1: PAD.left, x2: width - PAD.right, y1: y(0), y2: y(0) })] : [];
  const ends = steps.map((step, index) => s("text", { x: x(step), y: HEIGHT - 4, "text-anchor": index ? "end" : "start" }, index ? `step ${compact(step)}` : compact(step)));
  return [...lines, ...zero, ...names, ...ends];
}

function marks(versions, [first, last], x) {
  const inside = versions.filter(({ step }) => step >= first && step <= last);
  return inside.flatMap(({ step, version }) => [
    s("line", { class: "mark", x1: x(step), x2: x(step), y1: PAD.top - 4, y2: HEIGHT - PAD.bottom }),
    s("text", { class: "mark-name", x: x(step), y: PAD.top - 6, "text-anchor": "middle" }, `v${version}`),
  ]);
}

function newest([step, value], x, y, format) {
  return [s("circle", { class: "dot", cx: x(step), cy: y(value), r: 3.5 }), s("text", { class: "now", x: x(step) + 7, y: y(value) + 4 }, format(value))];
}

function follow(svg, { points, x, note, format, caption, width }) {
  const cursor = s("line", { class: "cursor", y1: PAD.top, y2: HEIGHT - PAD.bottom, visibility: "hidden" });
  svg.append(cursor);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const [step, value] = points.reduce((best, point) => (Math.abs(x(point[0]) - at) < Math.abs(x(best[0]) - at) ? point : best));
    cursor.setAttribute("x1", x(step));
    cursor.setAttribute("x2", x(step));
    cursor.setAttribute("visibility", "visible");
    note.textContent = `step ${count(step)}: ${format(value)}`;
  });
  svg.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    note.textContent = caption;
  });
}

function describe(name, points, versions, format) {
  const values = points.map(([, value]) => value);
  const loads = versions.map(({ version, step }) => `v${version} at step ${count(step)}`).join(", ");
  return `${name}: ${format(points.at(-1)[1])} at step ${count(points.at(-1)[0])}; between ${format(Math.min(...values))} and ${format(Math.max(...values))}.${loads ? ` Reward models loaded: ${loads}.` : ""}`;
}

function range(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  return [low - margin, high + margin];
}

const scale = (from, to, low, high) => (value) => (to === from ? (low + high) / 2 : low + ((value - from) / (to - from)) * (high - low));
