import assert from "node:assert/strict";
import { test } from "node:test";

import { linear, mostOf, spanOf, ticks } from "../../../services/hud/src/rlaif/hud/static/js/charts/scale.js";

test("a straight scale goes through both ends", () => {
  const x = linear([10, 20], [100, 300]);
  assert.deepEqual([x(10), x(15), x(20)], [100, 200, 300]);
});

test("a span of one value lies in the middle", () => {
  assert.equal(linear([5, 5], [0, 100])(5), 50);
});

test("ticks are round and inside the span", () => {
  assert.deepEqual(ticks([0.03, 0.97], 4), [0.5]);
  assert.deepEqual(ticks([0.03, 0.97], 5), [0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(ticks([-0.3, 0.3], 6), [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticks([0, 1_243_008], 4), [0, 500_000, 1_000_000]);
});

test("ticks of counts are whole numbers", () => {
  assert.deepEqual(ticks([0, 2], 5, { whole: true }), [0, 1, 2]);
});

test("a tick at zero is not minus zero", () => {
  assert.ok(ticks([-1, 1], 2).every((tick) => !Object.is(tick, -0)));
});

test("what is not known does not widen a span", () => {
  assert.deepEqual(spanOf([null, undefined, NaN, Infinity], {}), null);
  assert.deepEqual(spanOf([null, 2, NaN, 4], { air: 0 }), [2, 4]);
});

test("a span has air, except below nothing", () => {
  assert.deepEqual(spanOf([0, 100]), [0, 108]);
  assert.deepEqual(spanOf([-100, 0]), [-108, 0]);
  assert.deepEqual(spanOf([5, 10], { zero: true }), [0, 10.8]);
});

test("a single value gets room on both sides", () => {
  assert.deepEqual(spanOf([10]), [9, 11]);
  assert.deepEqual(spanOf([0]), [0, 1]);
});

test("most values lie between their ends, without a share of peaks on either side", () => {
  const values = [...Array.from({ length: 98 }, (_, index) => index), 1000, null, NaN, -1000];
  assert.deepEqual(mostOf(values, 0.03), [2, 95]);
  assert.deepEqual(mostOf([5], 0.03), [5, 5]);
  assert.equal(mostOf([null], 0.03), null);
});
