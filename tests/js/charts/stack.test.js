import assert from "node:assert/strict";
import { test } from "node:test";

import { residual, stack, sumAt, UNEXPLAINED } from "../../../services/hud/src/rlaif/hud/static/js/charts/draw.js";

const ROOM = { name: "room", points: [[1, 2], [2, 1]] };
const PAIN = { name: "damage", points: [[1, -0.5], [2, -1]] };
const MODEL = { name: "model", points: [[1, 0.25], [2, -0.25]] };

test("what adds stands above zero and what takes away hangs below", () => {
  const [room, pain, model] = stack([ROOM, PAIN, MODEL]);
  assert.deepEqual(room.above, [[1, 0, 2], [2, 0, 1]]);
  assert.deepEqual(pain.below, [[1, 0, -0.5], [2, 0, -1]]);
  assert.deepEqual(model.above, [[1, 2, 2.25], [2, 1, 1]]);
  assert.deepEqual(model.below, [[1, -0.5, -0.5], [2, -1, -1.25]]);
});

test("a part that changes its sign has no height on the other side of zero", () => {
  const heights = stack([ROOM, MODEL])[1].above.map(([, from, to]) => to - from);
  assert.deepEqual(heights, [0.25, 0]);
});

test("the heights of the layers sum to the parts", () => {
  const layers = stack([ROOM, PAIN, MODEL]);
  for (const index of [0, 1]) {
    const heights = layers.flatMap(({ above, below }) => [above[index], below[index]]).map(([, from, to]) => to - from);
    assert.equal(heights.reduce((sum, height) => sum + height, 0), sumAt([ROOM, PAIN, MODEL], index));
  }
});

test("parts that sum to the total leave nothing", () => {
  assert.equal(residual([ROOM, PAIN, MODEL], [[1, 1.75], [2, -0.25 + 1e-9]]), null);
});

test("what the parts do not explain is a part of its own", () => {
  const left = residual([ROOM, PAIN, MODEL], [[1, 1.75], [2, 0.25]]);
  assert.equal(left?.name, UNEXPLAINED);
  assert.deepEqual(left?.points, [[1, 0], [2, 0.5]]);
});

test("the sum of nothing known is not known", () => {
  assert.equal(sumAt([{ name: "a", points: [[1, null]] }], 0), null);
  assert.equal(sumAt([{ name: "a", points: [[1, null]] }, { name: "b", points: [[1, 3]] }], 0), 3);
});
