// Trajectory of the player through a room, in pixels of the screen, drawn over the film.

import { s, show } from "../dom.js";

/**
 * @typedef {{step: number, group: number | null, room: number | null, x: number | null, y: number | null}} Step
 * @typedef {{camera_x: number | null, camera_y: number | null}} Camera
 * @typedef {[number, number]} Dot
 */

const STATUS_BAR = 16; // rows of the screen above the room
const SMALL = { width: 160, height: 128 };

/** @param {Step} a @param {Step} b */
const sameRoom = (a, b) => a.group === b.group && a.room === b.room;

/** @param {Step} step */
const known = ({ room, x, y }) => room !== null && x !== null && y !== null;

/**
 * The stay in the room of a step: the player's positions before, at and after it, until the player leaves.
 * Null if unknown: outside rooms, or in a large room with an unknown camera position.
 *
 * @param {Step[]} steps
 * @param {number} now  position in `steps`
 * @param {Camera} camera  of the picture that is shown
 * @returns {{before: Dot[], here: Dot, after: Dot[]} | null}
 */
export function pathAt(steps, now, camera) {
  const here = steps[now];
  if (!here || !known(here)) return null;
  let first = now;
  while (first > 0 && known(steps[first - 1]) && sameRoom(steps[first - 1], here)) first -= 1;
  let last = now;
  while (last < steps.length - 1 && known(steps[last + 1]) && sameRoom(steps[last + 1], here)) last += 1;
  const stay = steps.slice(first, last + 1);
  const offset = offsetOf(stay, camera);
  if (!offset) return null;
  const dots = stay.map(({ x, y }) => /** @type {Dot} */ ([Number(x) - offset[0], Number(y) - offset[1] + STATUS_BAR]));
  const at = now - first;
  return { before: dots.slice(0, at + 1), here: dots[at], after: dots.slice(at) };
}

/** @param {Step[]} stay @param {Camera} camera @returns {Dot | null} */
function offsetOf(stay, { camera_x: left, camera_y: top }) {
  if (left !== null && left !== undefined && top !== null && top !== undefined) return [left, top];
  const fits = stay.every(({ x, y }) => Number(x) < SMALL.width && Number(y) < SMALL.height);
  return fits ? [0, 0] : null;
}

/** For a polyline. @param {Dot[]} dots */
export const pointsOf = (dots) => dots.map(([x, y]) => `${x},${y}`).join(" ");

export class PathLayer {
  constructor() {
    this.element = s("svg", { class: "path", viewBox: "0 0 160 144", "aria-hidden": "true" });
  }

  /** @param {any[]} steps @param {import("./film.js").Place} place */
  draw(steps, place) {
    const path = pathAt(steps, place.step, place);
    if (!path) return show(this.element);
    const [x, y] = path.here;
    show(this.element,
      s("polyline", { class: "halo", points: pointsOf(path.before) }),
      s("polyline", { class: "after", points: pointsOf(path.after) }),
      s("polyline", { class: "before", points: pointsOf(path.before) }),
      s("circle", { class: "here", cx: x, cy: y, r: 3 }));
  }
}
