// The tree of progress: a dot for each state that was the first to have something lasting, a line to
// what was found from there. To the right is later, up is farther; the way to the farthest stands out.

import { h, s, show } from "./dom.js";
import { linear } from "./charts/scale.js";
import { compact, count } from "./format.js";

const HEIGHT = 320;
const PAD = { left: 40, right: 16, top: 18, bottom: 22 };
const LETTER = 6; // widest of a usual name, pixels
const LINE = 12; // height of a name
const APART = 70; // pixels between two ticks
const LONGEST = 28; // letters of a name in the picture; the list beside it has all of it

/** Draw the tree of a search into a figure. */
export function drawTree(figure, search) {
  const nodes = search.tree;
  if (!nodes.length) return show(figure, h("p", { class: "empty" }, "No progress found yet."));
  const width = Math.max(260, figure.clientWidth);
  // The root of time: most is found early, and what comes late takes long.
  const root = linear([0, Math.sqrt(Math.max(search.frames, 1))], [PAD.left, width - PAD.right]);
  const x = (frames) => root(Math.sqrt(frames));
  const y = linear([0, Math.max(search.level, 1)], [HEIGHT - PAD.bottom, PAD.top]);
  const byNode = new Map(nodes.map((node) => [node.node, node]));
  const far = wayTo(farthest(nodes), byNode);
  const place = (node) => [x(node.frames), y(node.level)];
  const caption = h("figcaption", {}, help(search));
  const svg = s("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: "img", "aria-label": describe(search, far) },
    ...axes(search, x, y, width),
    ...[...nodes].sort((a, b) => Number(far.has(a.node)) - Number(far.has(b.node))).map((node) => branch(node, byNode, far, place)),
    ...nodes.map((node) => dot(node, far, place)),
    ...names(nodes, far, place, width));
  follow(svg, { nodes, place, width, caption, idle: help(search) });
  show(figure, svg, caption);
}

/** The node of the highest level; of several the first. */
export function farthest(nodes) {
  return nodes.reduce((best, node) => (node.level > best.level ? node : best));
}

/** Numbers of the nodes from power-on to a node, in that order. */
export function wayTo(node, byNode) {
  const way = [];
  for (let at = node; at && !way.includes(at.node); at = byNode.get(at.parent)) way.unshift(at.node);
  return new Set(way);
}

function axes(search, x, y, width) {
  const bottom = HEIGHT - PAD.bottom;
  const levels = [0, search.level].map((level) => s("text", { class: "scale", x: PAD.left - 6, y: y(level) + 4, "text-anchor": "end" }, compact(level)));
  const ticks = round(search.frames, x).map((frames) => s("text", { class: "scale", x: at(x(frames)), y: HEIGHT - 6, "text-anchor": "middle" }, compact(frames)));
  ticks.push(s("text", { class: "scale", x: width - PAD.right, y: HEIGHT - 6, "text-anchor": "end" }, `${compact(search.frames)} frames`));
  return [s("line", { class: "axis", x1: PAD.left, x2: width - PAD.right, y1: bottom, y2: bottom }), s("text", { class: "scale", x: 0, y: PAD.top - 8 }, "level"), ...levels, ...ticks];
}

/** Round numbers below the end of the axis that stand apart from each other and from its end. */
function round(end, x) {
  const ticks = [];
  let right = x(end) - 1.6 * APART; // the name of the end is long
  for (let power = 10 ** Math.floor(Math.log10(Math.max(end, 1))); power >= 1; power /= 10) {
    for (const frames of [5 * power, 2 * power, power]) {
      if (frames >= end || x(frames) > right || x(frames) < PAD.left + APART / 3) continue;
      ticks.push(frames);
      right = x(frames) - APART;
    }
  }
  return ticks;
}

/** From its parent along the time, then up to where it is; from power-on along the bottom. */
function branch(node, byNode, far, place) {
  const [toX, toY] = place(node);
  const parent = byNode.get(node.parent);
  const [fromX, fromY] = parent ? place(parent) : [PAD.left, HEIGHT - PAD.bottom];
  return s("polyline", { class: far.has(node.node) ? "branch far" : "branch", points: `${at(fromX)},${at(fromY)} ${at(toX)},${at(fromY)} ${at(toX)},${at(toY)}` });
}

function dot(node, far, place) {
  const [cx, cy] = place(node);
  return s("circle", { class: far.has(node.node) ? "find far" : "find", cx: at(cx), cy: at(cy), r: far.has(node.node) ? 4 : 2.5, "data-node": node.node }, s("title", { class: "reported" }, words(node)));
}

/** Names where there is room for them, those on the way to the farthest first, the farthest of all first. */
function names(nodes, far, place, width) {
  const dots = nodes.map(place);
  const lines = nodes.filter(({ node }) => far.has(node)).flatMap((node) => linesTo(node, nodes, place));
  const taken = [];
  const wanted = [...nodes].sort((a, b) => Number(far.has(b.node)) - Number(far.has(a.node)) || b.level - a.level);
  return wanted.flatMap((node) => {
    const [cx, cy] = place(node);
    const text = short(node);
    const long = text.length * LETTER;
    const spots = [
      { anchor: "end", x: cx - 7, y: cy - 4, left: cx - 7 - long },
      { anchor: "start", x: cx + 7, y: cy + 12, left: cx + 7 },
    ];
    const spot = spots.find(({ left, y }) => left >= PAD.left && left + long <= width && y <= HEIGHT - PAD.bottom && isFree({ left, right: left + long, y }, taken, dots, lines));
    if (!spot) return [];
    taken.push({ left: spot.left, right: spot.left + long, y: spot.y });
    return [s("text", { class: far.has(node.node) ? "mark-name" : "mark-name aside", x: at(spot.x), y: at(spot.y), "text-anchor": spot.anchor }, text)];
  });
}

/** The two lines to a node on the way, as boxes. */
function linesTo(node, nodes, place) {
  const parent = nodes.find(({ node: number }) => number === node.parent);
  const [toX, toY] = place(node);
  const [fromX, fromY] = parent ? place(parent) : [PAD.left, HEIGHT - PAD.bottom];
  return [{ left: fromX, right: toX, top: fromY, bottom: fromY }, { left: toX, right: toX, top: toY, bottom: fromY }];
}

/** Whether a name covers no other name, no dot, and nothing of the way to the farthest. */
function isFree(name, taken, dots, lines) {
  const box = { left: name.left - 3, right: name.right + 3, top: name.y - LINE + 2, bottom: name.y + 2 };
  const covers = ({ left, right, top, bottom }) => left < box.right && right > box.left && top < box.bottom && bottom > box.top;
  const isDot = ([x, y]) => covers({ left: x, right: x, top: y, bottom: y });
  return taken.every((other) => apart(other, name)) && !dots.some(isDot) && !lines.some(covers);
}

const apart = (one, other) => one.right < other.left || other.right < one.left || Math.abs(one.y - other.y) >= LINE;

function short({ marks }) {
  const [first = "—", ...rest] = marks;
  const text = rest.length ? `${first} +${rest.length}` : first;
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

const all = ({ marks, marks_left_out: more }) => [...marks, ...(more ? [`${count(more)} more`] : [])].join(", ");

const words = (node) => `${all(node)}: level ${compact(node.level)}, after ${compact(node.frames)} frames`;

function help({ tree, tree_left_out: left }) {
  const more = left ? ` ${count(left)} other findings are not shown.` : "";
  return `${count(tree.length)} states with new lasting progress, by frames searched (square-root scale).${more}`;
}

/** The picture in words: the way to the farthest, step by step. */
function describe(search, far) {
  const way = search.tree.filter(({ node }) => far.has(node)).map((node) => words(node));
  return `Search tree: ${count(search.marks)} flags after ${compact(search.frames)} frames. Trajectory to the most advanced state, from power-on: ${way.join("; ")}.`;
}

function follow(svg, { nodes, place, width, caption, idle }) {
  const still = () => svg.querySelector(".at")?.classList.remove("at");
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const here = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * HEIGHT];
    const distance = (node) => Math.hypot(...place(node).map((value, axis) => value - here[axis]));
    const nearest = nodes.reduce((best, node) => (distance(node) < distance(best) ? node : best));
    still();
    svg.querySelector(`[data-node="${nearest.node}"]`)?.classList.add("at");
    caption.textContent = words(nearest);
  });
  svg.addEventListener("pointerleave", () => {
    still();
    caption.textContent = idle;
  });
}

const at = (value) => value.toFixed(1);
