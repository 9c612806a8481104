import assert from "node:assert/strict";
import { test } from "node:test";

import { advanced, FRAMES_A_SECOND, otherSpeed, pictureAt, pictureOfStep } from "../../../services/hud/src/rlaif/hud/static/js/segments/film.js";

const FILM = [{ step: 0, frame: 4 }, { step: 1, frame: 8 }, { step: 4, frame: 120 }];

test("the last picture that was taken until a moment is shown, and the first one before it", () => {
  assert.deepEqual([0, 4, 7, 8, 119, 120, 999].map((frame) => pictureAt(FILM, frame)), [0, 0, 0, 1, 1, 2, 2]);
});

test("a step without a picture shows the one before it", () => {
  assert.deepEqual([0, 1, 3, 4, 9].map((step) => pictureOfStep(FILM, step)), [0, 1, 1, 2, 2]);
});

test("a second of the film takes a second, and half of it at half the speed", () => {
  assert.equal(advanced(FILM, 4, 1000, 1).frame, 4 + FRAMES_A_SECOND);
  assert.equal(advanced(FILM, 4, 1000, 0.5).frame, 4 + FRAMES_A_SECOND / 2);
});

test("the film rests at its end, however late it is looked at", () => {
  assert.deepEqual(advanced(FILM, 4, 60_000, 8), { frame: 120, ended: true });
});

test("there is no speed beyond the slowest and the fastest", () => {
  assert.deepEqual([otherSpeed(1, -1), otherSpeed(1, 1), otherSpeed(0.25, -1), otherSpeed(8, 1)], [0.5, 2, 0.25, 8]);
});
