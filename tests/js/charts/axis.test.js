import assert from "node:assert/strict";
import { test } from "node:test";

import { createAxis } from "../../../services/hud/src/rlaif/hud/static/js/charts/axis.js";

function axisOf(span) {
  const axis = createAxis();
  axis.reach(span);
  return axis;
}

test("without a zoom all is looked at, also what comes later", () => {
  const axis = axisOf([0, 1000]);
  assert.deepEqual(axis.view(), [0, 1000]);
  axis.reach([0, 2000]);
  assert.deepEqual(axis.view(), [0, 2000]);
  assert.equal(axis.zoomed(), false);
});

test("zooming keeps the step under the cursor where it is", () => {
  const axis = axisOf([0, 1000]);
  axis.zoom(2, 200);
  assert.deepEqual(axis.view(), [100, 600]);
});

test("a zoom stays where it is when newer steps come", () => {
  const axis = axisOf([0, 1000]);
  axis.show([100, 300]);
  axis.reach([0, 1500]);
  assert.deepEqual(axis.view(), [100, 300]);
});

test("a zoom on the newest steps goes along with them", () => {
  const axis = axisOf([0, 1000]);
  axis.show([800, 1000]);
  axis.reach([0, 1500]);
  assert.deepEqual(axis.view(), [1300, 1500]);
});

test("a zoom never leaves what there is, and zooming out far enough shows all", () => {
  const axis = axisOf([0, 1000]);
  axis.show([900, 1200]);
  assert.deepEqual(axis.view(), [700, 1000]);
  axis.pan(-10);
  assert.deepEqual(axis.view(), [0, 300]);
  axis.zoom(0.1);
  assert.equal(axis.zoomed(), false);
});

test("zooming in ends before nothing is left to see", () => {
  const axis = axisOf([0, 1000]);
  for (let times = 0; times < 20; times += 1) axis.zoom(2, 500);
  const [first, last] = axis.view();
  assert.ok(last - first >= 9 && first <= 500 && last >= 500);
});

test("listeners are called for changes only", () => {
  const axis = createAxis();
  let told = 0;
  const stop = axis.watch(() => (told += 1));
  axis.reach([0, 100]);
  axis.reach([0, 100]);
  axis.show([10, 50]);
  axis.show([10, 50]);
  assert.equal(told, 2);
  stop();
  axis.show(null);
  assert.equal(told, 2);
});

test("another run, without any step yet, is not zoomed", () => {
  const axis = axisOf([0, 1000]);
  axis.show([0, 100]);
  axis.reach(null);
  assert.equal(axis.view(), null);
  assert.equal(axis.zoomed(), false);
});
