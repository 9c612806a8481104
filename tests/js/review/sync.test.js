import assert from "node:assert/strict";
import { test } from "node:test";

import { leader, nudged, shownAt, ticked } from "../../../services/hud/src/rlaif/hud/static/js/segments/film.js";

const film = (...frames) => frames.map((frame, step) => ({ step, frame }));
const LONG = film(4, 8, 12, 16, 200);
const SHORT = film(4, 10);

test("the film that lasts longer leads, whichever side it is on", () => {
  assert.equal(leader(LONG, SHORT), LONG);
  assert.equal(leader(SHORT, LONG), LONG);
});

test("both show the same moment since their beginnings, and the shorter one rests at its end", () => {
  assert.deepEqual(shownAt(LONG, SHORT, 4), { a: 0, b: 0 });
  assert.deepEqual(shownAt(LONG, SHORT, 11), { a: 1, b: 1 });
  assert.deepEqual(shownAt(SHORT, LONG, 200), { a: 1, b: 4 });
});

test("a second of the game is a second, and twice as fast it is half of one", () => {
  const clock = { frame: 4, rested: 0 };
  assert.ok(Math.abs(ticked(LONG, clock, 1000, 1).frame - 63.7) < 0.1);
  assert.ok(Math.abs(ticked(LONG, clock, 500, 2).frame - 63.7) < 0.1);
});

test("at the end both rest for a moment, and then begin again", () => {
  let clock = ticked(LONG, { frame: 199, rested: 0 }, 500, 1);
  assert.equal(clock.frame, 200);
  clock = ticked(LONG, clock, 100, 1);
  assert.equal(clock.frame, 200);
  for (let tick = 0; tick < 6; tick += 1) clock = ticked(LONG, clock, 100, 1);
  assert.ok(clock.frame < 100);
});

test("a step on or back is a picture of the one that leads, and stays inside", () => {
  assert.equal(nudged(LONG, 9, 1), 12);
  assert.equal(nudged(LONG, 9, -1), 4);
  assert.equal(nudged(LONG, 9, -10), 4);
  assert.equal(nudged(LONG, 9, 10), 200);
});
