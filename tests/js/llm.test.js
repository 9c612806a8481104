import assert from "node:assert/strict";
import { test } from "node:test";

import { between, shared } from "../../services/hud/src/rlaif/hud/static/js/panels/llm/routes.js";

const bucket = (from, to, calls = 1) => ({ from_seconds: from, to_seconds: to, calls });
const route = (...latencies) => ({ name: "state", route: "/state", latencies: latencies.length ? latencies : null });

test("the histograms of all routes share one axis without a gap", () => {
  const all = shared([route(bucket(2, 3)), route(), route(bucket(5, null))], [1, 2, 3, 5]);
  assert.deepEqual(all, [[2, 3], [3, 5], [5, null]]);
  assert.deepEqual(shared([route(bucket(0, 1))], [1, 2]), [[0, 1]]);
  assert.deepEqual(shared([route()], [1, 2]), [], "a route without a call has no place on it");
});

test("a bucket is named by its edges, also without an upper one", () => {
  assert.equal(between(0, 0.01), "up to 10 ms");
  assert.equal(between(0.7, 1), "700 ms to 1.0 s");
  assert.equal(between(700, null), "more than 11 min");
});
