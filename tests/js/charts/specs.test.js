import assert from "node:assert/strict";
import { test } from "node:test";

import { residual, sumAt } from "../../../services/hud/src/rlaif/hud/static/js/charts/draw.js";
import { appended, chartsOf, folded, marksOf, NOTHING, reachOf, REST, smoothed, stepChart } from "../../../services/hud/src/rlaif/hud/static/js/panels/timeline/specs.js";

const SCORES = { window: 20, scored: 2, means: [[10, 0.5]], points: [{ env_step: 10, weighted: 0.5, episode_id: "e-1", segment_id: "s-1" }] };
const step = (number, parts, paid = 0.25) => ({ number, env_step: 8 * number, reward: Object.values(parts).reduce((sum, amount) => sum + amount, 0), parts, paid, reward_model_version: 3, ended: false });
const told = (steps, env = "env-0") => ({ env, kept: 3, reward_sum: 0, paid_sum: 0, steps });

test("the small parts become one, and the sum stays what it was", () => {
  const paid = [Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`part-${index}`, index / 10])), { "part-3": -1, odd: 0.0625 }];
  const parts = folded(paid, 0, 3);
  assert.deepEqual(parts.map(({ name }) => name), ["part-3", "part-11", "part-10", REST]);
  for (const index of [0, 1]) {
    const sum = parts.reduce((total, { amounts }) => total + amounts[index], 0);
    const whole = Object.values(paid[index]).reduce((total, amount) => total + amount, 0);
    assert.ok(Math.abs(sum - whole) < 1e-12);
  }
});

test("a single component is not called the rest, and one without reward is omitted", () => {
  assert.deepEqual(folded([{ a: 3, b: 2, c: 1, d: 0 }], 0, 2).map(({ name }) => name), ["a", "b", "c"]);
});

test("a dot of the judge score names the segment that it opens", () => {
  const scores = chartsOf(NOTHING, SCORES).find(({ id }) => id === "scores");
  assert.deepEqual(scores.series[0].points, [[10, 0.5, "e-1/s-1"]]);
  assert.match(scores.note, /lowest and highest/);
});

test("a run of which nothing is known has charts without points and no axis", () => {
  const charts = chartsOf(NOTHING, null);
  assert.equal(reachOf(charts), null);
  assert.ok(charts.every(({ none }) => none.length > 0));
});

test("a load is a mark that leads to its model; without a model there is nothing to open", () => {
  const marks = marksOf({ ...NOTHING, loads: [{ step: 5, version: 7 }, { step: 9, version: null }] });
  assert.deepEqual(marks, [{ step: 5, label: "v7", href: "/models/7" }, { step: 9, label: "none" }]);
});

test("a silent player of this run is a mark; a selection or an earlier run is none", () => {
  const change = (at, reason, env_step = 50) => ({ at, reason, env_step, from_env: "1-0", to_env: "2-0" });
  const past = { ...NOTHING, starts: [{ at: "2026-11-20T12:00:00Z" }] };
  const changes = [change("2026-11-20T11:00:00Z", "silent"), change("2026-11-20T12:10:00Z", "selected"), change("2026-11-20T12:20:00Z", "silent"), change("2026-11-20T12:30:00Z", "silent", null)];
  assert.deepEqual(marksOf(past, changes), [{ step: 50, label: "1-0→2-0", kind: "switch" }]);
  assert.deepEqual(marksOf(NOTHING, changes), []);
});

test("the parts of each step and the model's pay sum to what the step was paid", () => {
  const { series, stacked } = stepChart([step(1, { room: 1, damage: -0.5 }), step(2, {}), step(3, { room: 1 }, null)]);
  assert.deepEqual(stacked.total.map(([, value]) => value), [0.75, 0.25, 1]);
  assert.deepEqual([0, 1, 2].map((index) => sumAt(series, index)), [0.75, 0.25, 1]);
  assert.equal(residual(series, stacked.total), null);
});

test("a step whose parts do not explain its reward shows what is left", () => {
  const { series, stacked } = stepChart([{ ...step(1, { room: 1 }), reward: 1.5 }, step(2, { room: 1 })]);
  assert.deepEqual(residual(series, stacked.total)?.points, [[8, 0.5], [16, 0]]);
});

test("new steps are put behind those that are known", () => {
  const known = told([step(1, {}), step(2, {}), step(3, {})]);
  assert.deepEqual(appended(known, told([step(4, {})])).steps.map(({ number }) => number), [2, 3, 4]);
  assert.deepEqual(appended(known, told([])).steps.map(({ number }) => number), [1, 2, 3]);
});

test("steps that do not follow, or of another player, take the place of all", () => {
  const known = told([step(1, {}), step(2, {})]);
  assert.deepEqual(appended(known, told([step(9, {})])).steps.map(({ number }) => number), [9]);
  assert.deepEqual(appended(known, told([step(3, {})], "env-4")).steps.map(({ number }) => number), [3]);
  assert.deepEqual(appended(null, told([step(5, {})])).steps.map(({ number }) => number), [5]);
});

test("a smooth line is a mean over enough episodes, each counted once, and no longer back than that", () => {
  const points = [[1, 1], [2, 0], [3, null], [4, 3], [5, 1]];
  const episodes = [60, 40, 0, 50, 60];
  const line = smoothed(points, episodes, 100);
  assert.deepEqual(line.map(([step]) => step), [1, 2, 4, 5]);
  assert.deepEqual(line.map(([, value]) => Number(value.toFixed(6))), [1, 0.6, Number(((60 + 150) / 150).toFixed(6)), Number(((150 + 60) / 110).toFixed(6))]);
});

test("the total reward is the measured one, or else the sum of its components", () => {
  const piece = { env_step: 10, episodes: 1, low: {}, high: {}, paid: { room: 1, shaping: 0.5 }, paid_total: 1.5, learned_from: 1.25 };
  const pay = (points) => chartsOf({ points, loads: [] }, null).find(({ id }) => id === "pay");
  assert.deepEqual(pay([piece]).stacked.total, [[10, 1.25]]);
  assert.deepEqual(residual(pay([piece]).series, pay([piece]).stacked.total)?.points, [[10, -0.25]]);
  assert.deepEqual(pay([{ ...piece, learned_from: null }]).stacked.total, [[10, 1.5]]);
  assert.deepEqual(pay([piece]).series.map(({ name, field }) => [name, field]), [["room", "history.points.-1.paid.room"], ["reward model", "history.points.-1.paid.shaping"]]);
});

test("a component that is not reported at a point is not zero there", () => {
  assert.deepEqual(folded([{ room: 1 }, { room: 2, death: -1 }], null).map(({ amounts }) => amounts), [[1, 2], [null, -1]]);
  const untold = stepChart([step(1, { room: 1 }, null), step(2, {}, 0.5)]).series.find(({ name }) => name === "reward model");
  assert.deepEqual(untold.points.map(([, value]) => value), [null, 0.5]);
});

test("where deaths end no episode the empty chart reports that, and not that none has finished", () => {
  const noneOf = (points) => chartsOf({ points, loads: [] }, null).find(({ id }) => id === "deaths").none;
  const piece = { env_step: 10, episodes: 3, deaths_mean: null, low: {}, high: {}, paid: {}, paid_total: 0, learned_from: null };
  assert.match(noneOf([piece]), /Deaths do not end episodes/);
  assert.match(noneOf([{ ...piece, episodes: 0 }]), /No finished episode/);
});

test("an evaluation has its interval, and a random policy and the control run stand beside it", () => {
  const at = (env_step, milestones, player = "trained") => ({ env_step, player, milestones, low: milestones - 1, high: milestones + 1 });
  const chart = (past) => chartsOf({ points: [], loads: [], ...past }, null).find(({ id }) => id === "evaluations");
  const { series } = chart({ evaluations: [at(10, 0.5, "random"), at(10, 1), at(20, 3)], control: [at(10, 0.75), at(10, 0.5, "random")] });
  assert.deepEqual(series.map(({ name, points }) => [name, points]), [["frozen policy", [[10, 1], [20, 3]]], ["random policy", [[10, 0.5], [20, 0.5]]], ["without judges", [[10, 0.75]]]]);
  assert.deepEqual(series[0].band, [[10, 0, 2], [20, 2, 4]]);
  assert.deepEqual(chart({}).series.map(({ name }) => name), ["frozen policy"]);
});
