// Trajectory of the player, drawn over the picture of the room: past, current and future positions.

import { s, show } from "../../dom.js";
import { pathAt, pointsOf } from "../../segments/path.js";

export class PathLayer {
  constructor() {
    this.element = s("svg", { class: "path", viewBox: "0 0 160 144", "aria-hidden": "true" });
  }

  /** @param {any[]} steps @param {import("../../segments/film.js").Place} place */
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
