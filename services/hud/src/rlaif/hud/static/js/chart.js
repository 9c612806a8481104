// A small line chart over environment steps, with marks where the trainer loaded a reward model.

import { h, s, show } from "./dom.js";
import { compact, count } from "./format.js";
import { empty } from "./parts.js";

const HEIGHT = 150;
const LETTER = 6.5; // widest letter of a mark's name, pixels
const GAP = 5;
const PAD = { left: 44, right: 52, top: 16, bottom: 20 };

/** Draw `points` ([[step, value], …]) into `element`; `steps` ([first, last]) is the axis. */
export function drawChart(element, { points, versions, steps, format, field, bounds = null, name, none, caption }) {
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
    ...newest(points.at(-1), x, y, format, field));
  const note = h("figcaption", {}, caption);
  follow(svg, { points, x, note, format, caption, width });
  show(element, h("figure", {}, svg, note));
}

function axes({ low, high, x, y, width, format, steps }) {
  const lines = [low, high].map((value) => s("line", { class: "axis", x1: PAD.left, x2: width - PAD.right, y1: y(value), y2: y(value) }));
  const names = [low, high].map((value) => s("text", { class: "scale", x: PAD.left - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)));
  const zero = low < 0 && high > 0 ? [s("line", { class: "axis", x1: PAD.left, x2: width - PAD.right, y1: y(0), y2: y(0) })] : [];
  const ends = steps.map((step, index) => s("text", { class: "scale", x: x(step), y: HEIGHT - 4, "text-anchor": index ? "end" : "start" }, index ? `step ${compact(step)}` : compact(step)));
  return [...lines, ...zero, ...names, ...ends];
}

function marks(versions, [first, last], x) {
  const inside = versions.filter(({ step }) => step >= first && step <= last).sort((a, b) => a.step - b.step);
  const lines = inside.map(({ step, version }) => s("line", { class: "mark", "data-load": `v${version} ${step}`, x1: x(step), x2: x(step), y1: PAD.top - 4, y2: HEIGHT - PAD.bottom }));
  const names = nameMarks(inside.map(({ step, version }) => ({ at: x(step), version })));
  return [...lines, ...names.map(({ middle, text }) => s("text", { class: "mark-name", x: middle, y: PAD.top - 6, "text-anchor": "middle" }, text))];
}

/** Names over marks ([{at, version}], left to right); names that would touch become one: "v2–v5". */
export function nameMarks(marks) {
  const groups = [];
  for (const mark of marks) {
    groups.push(group([mark]));
    while (groups.length > 1 && touch(groups.at(-2), groups.at(-1))) groups.push(group([...groups.splice(-2).flatMap(({ members }) => members)]));
  }
  return groups;
}

function group(members) {
  const [first, last] = [members[0], members.at(-1)];
  const text = members.length === 1 ? `v${first.version}` : first.version === last.version ? `v${first.version}…` : `v${first.version}–v${last.version}`;
  return { members, text, middle: (first.at + last.at) / 2, half: (text.length * LETTER) / 2 };
}

const touch = (left, right) => left.middle + left.half + GAP > right.middle - right.half;

function newest([step, value], x, y, format, field) {
  return [s("circle", { class: "dot", cx: x(step), cy: y(value), r: 3.5 }), s("text", { class: "now", "data-figure": field, x: x(step) + 7, y: y(value) + 4 }, format(value))];
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
