// Display statistics of this page: frames per second, latency, dropped frames, round trip.

import { roundTrip } from "../clock.js";
import { h, setText } from "../dom.js";
import { count, duration, tenth, UNKNOWN } from "../format.js";

const ROWS = [
  ["fps", "fps", "Frames drawn per second, over the last 5 s"],
  ["age", "latency", "Capture-to-display latency over the last 5 s: median (p95)"],
  ["lost", "lost", "Share of frames available at the HUD but not drawn by this page, over the last 5 s"],
  ["trip", "round trip", "Fastest round trip to the HUD"],
];

/** A line of figures of this page's own, until the scope ends. @param {import("../app.js").App} app @param {import("../scope.js").Scope} scope */
export function arrival({ live }, scope) {
  const values = Object.fromEntries(ROWS.map(([name]) => [name, h("b", { "data-arrival": name }, UNKNOWN)]));
  const draw = () => {
    const { fps, age, slowest, lost, of } = live.stats.view(performance.now());
    setText(values.fps, tenth(fps));
    setText(values.age, age === null || slowest === null ? UNKNOWN : `${duration(age / 1000)} (${duration(slowest / 1000)})`);
    setText(values.lost, lost === null ? UNKNOWN : `${count(lost)}/${count(of)}`);
    setText(values.trip, milliseconds(roundTrip()));
  };
  scope.every(500, draw);
  draw();
  return h("p", { class: "arrival reported", id: "arrival" }, ...ROWS.map(([name, label, title]) => h("span", { title }, values[name], ` ${label}`)));
}

/** @param {number | null} ms */
const milliseconds = (ms) => (ms === null ? UNKNOWN : duration(ms / 1000));
