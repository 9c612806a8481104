import assert from "node:assert/strict";
import { test } from "node:test";

import { areaPath, barsPath, dotsPath, linePath } from "../../../services/hud/src/rlaif/hud/static/js/charts/scale.js";

const same = (value) => value;

test("a line goes through its points", () => {
  assert.equal(linePath([[1, 2], [3, 4]], same, same), "M1.0,2.0L3.0,4.0");
});

test("nothing is drawn through what is not known; a point alone is still seen", () => {
  assert.equal(linePath([[1, 2], [2, null], [3, 4], [4, null]], same, same), "M1.0,2.0h0M3.0,4.0h0");
});

test("an area goes there along one edge and back along the other", () => {
  assert.equal(areaPath([[0, 0, 1], [1, 0, 2]], same, same), "M0.0,1.0L1.0,2.0L1.0,0.0L0.0,0.0Z");
  assert.equal(areaPath([[0, 0, 1]], same, same), "");
});

test("dots and bars leave out what is not there", () => {
  assert.equal(dotsPath([[1, 2], [2, null]], same, same), "M1.0,2.0h0");
  assert.equal(barsPath([[1, 0, 0], [2, 0, 3]], same, same, 1), "M1.5,0.0H2.5V3.0H1.5Z");
});
