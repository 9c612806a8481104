import assert from "node:assert/strict";
import { test } from "node:test";

import { pathAt } from "../../../services/hud/src/rlaif/hud/static/js/panels/segments/player.js";

const at = (room, x, y) => ({ step: 0, group: 0, room, x, y });
const WALK = [at(7, 10, 20), at(7, 12, 20), at(8, 150, 20), at(8, 148, 20), at(7, 1, 1)];
const SMALL = { camera_x: 0, camera_y: 0 };

test("the way is that of the stay in the room, under the status bar", () => {
  assert.deepEqual(pathAt(WALK, 1, SMALL), { before: [[10, 36], [12, 36]], here: [12, 36], after: [[12, 36]] });
  assert.deepEqual(pathAt(WALK, 0, SMALL)?.after, [[10, 36], [12, 36]]);
});

test("another visit of the same room is another stay", () => {
  assert.deepEqual(pathAt(WALK, 4, SMALL)?.before, [[1, 17]]);
});

test("in a large room the way moves with the camera", () => {
  assert.deepEqual(pathAt([at(9, 200, 100), at(9, 210, 100)], 1, { camera_x: 80, camera_y: 40 })?.here, [130, 76]);
});

test("without a camera only a way that fits the screen is drawn", () => {
  const unknown = { camera_x: null, camera_y: null };
  assert.deepEqual(pathAt(WALK, 1, unknown)?.here, [12, 36]);
  assert.equal(pathAt([at(9, 200, 100)], 0, unknown), null);
});

test("who is nowhere has no way", () => {
  assert.equal(pathAt([{ step: 0, group: null, room: null, x: null, y: null }], 0, SMALL), null);
  assert.equal(pathAt([], 0, SMALL), null);
});
