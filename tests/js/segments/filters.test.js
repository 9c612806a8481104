import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf, countOf, filtersOf, questionOf } from "../../../services/hud/src/rlaif/hud/static/js/segments/found.js";

test("an address gives back the filters that made it, and nothing else", () => {
  const filters = { order: "model_gap", min_score: "0.2", milestone: "sword" };
  const address = new URLSearchParams(Object.entries(addressOf(filters)).filter(([, value]) => value !== null));
  address.set("theme", "dark");
  assert.deepEqual(filtersOf(address), filters);
  assert.deepEqual(filtersOf(new URLSearchParams("order=newest&run=")), {});
});

test("a filter that is let go leaves the address", () => {
  assert.equal(addressOf({}).milestone, null);
});

test("the question has the filters, the cursor and a limit", () => {
  assert.equal(questionOf({ milestone: "a b" }, "abc", 30), "/api/v1/segments?milestone=a+b&limit=30&cursor=abc");
  assert.equal(questionOf({}, null, 30), "/api/v1/segments?limit=30");
});

test("the order is no filter", () => {
  assert.equal(countOf({ order: "model_gap", run: "r" }), 1);
});
