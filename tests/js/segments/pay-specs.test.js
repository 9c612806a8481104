import assert from "node:assert/strict";
import { test } from "node:test";

import { paySpecs } from "../../../services/hud/src/rlaif/hud/static/js/panels/segments/pay.js";

const step = (number, more = {}) => ({ step: number, game: 0, parts: {}, model: 0.5, potential: number, ...more });
const STEPS = [step(0, { game: 0.75, parts: { room: 0.5, item: 0.25 } }), step(1, { game: -1, parts: { damage: -1 }, model: -0.25 })];

test("game and model stand apart, and their sum is that of every step", () => {
  const [pay] = paySpecs({ steps: STEPS, first_potential: 0 }).charts;
  assert.deepEqual(pay.series.map(({ name }) => name), ["reward model", "damage", "item", "room"]);
  assert.deepEqual(pay.stacked.total, [[0, 1.25], [1, -1.25]]);
  for (const [index, [, total]] of pay.stacked.total.entries()) assert.equal(pay.series.reduce((sum, { points }) => sum + points[index][1], 0), total);
});

test("without a model its pay is left out, not nothing", () => {
  const steps = STEPS.map((each) => ({ ...each, model: null, potential: null }));
  const { charts } = paySpecs({ steps, first_potential: null });
  assert.equal(charts.length, 1);
  assert.deepEqual(charts[0].series.map(({ name }) => name), ["damage", "item", "room"]);
});

test("the potential begins before the first step", () => {
  const [, potential] = paySpecs({ steps: STEPS, first_potential: -1 }).charts;
  assert.deepEqual(potential.series[0].points[0], [-0.5, -1]);
});
