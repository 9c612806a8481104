import assert from "node:assert/strict";
import { test } from "node:test";

import { firstFrom, hit, inside, lastUpTo, nearest, newest, reach } from "../../../services/hud/src/rlaif/hud/static/js/charts/scale.js";

const LINE = [[10, 1], [20, 2], [20, 3], [40, 4]];

test("the nearest point is found by its step, the earlier one of two that are as near", () => {
  assert.equal(nearest(LINE, 0), 0);
  assert.equal(nearest(LINE, 14), 0);
  assert.equal(nearest(LINE, 17), 1);
  assert.equal(nearest(LINE, 99), 3);
  assert.equal(nearest([], 5), -1);
});

test("the first point from a step on is found among equal ones", () => {
  assert.deepEqual([firstFrom(LINE, 20), firstFrom(LINE, 21), firstFrom(LINE, 41)], [1, 3, 4]);
});

test("a line says at a step what was known by then, never what came later", () => {
  assert.equal(lastUpTo(LINE, 9), null);
  assert.deepEqual(lastUpTo(LINE, 20), [20, 3]);
  assert.deepEqual(lastUpTo(LINE, 39), [20, 3]);
});

test("a part of a line keeps one point on each side", () => {
  assert.deepEqual(inside(LINE, [15, 30]), LINE);
  assert.deepEqual(inside(LINE, [30, 35]), [[20, 3], [40, 4]]);
});

test("the reach of several lines is from the first step to the last", () => {
  assert.deepEqual(reach([[], LINE, [[5, 0]]]), [5, 40]);
  assert.equal(reach([[], []]), null);
});

test("the newest point is one that is known", () => {
  assert.deepEqual(newest([[1, 5], [2, null]]), [1, 5]);
  assert.equal(newest([[1, null]]), null);
});

test("a click takes the nearest point of the picture, and none that is far", () => {
  const scales = { x: (step) => step, y: (value) => 10 * value };
  assert.equal(hit(LINE, scales, [21, 29], 12)?.index, 2);
  assert.equal(hit(LINE, scales, [30, 80], 12), null);
});
