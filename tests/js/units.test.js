// One unit for each word, and no number that its label does not explain.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawn, textOf } from "./document.js";

import { arrival } from "../../services/hud/src/rlaif/hud/static/js/panels/game.js";
import { watchdog } from "../../services/hud/src/rlaif/hud/static/js/panels/models/watch.js";
import { run } from "../../services/hud/src/rlaif/hud/static/js/panels/run.js";
import { paySpecs } from "../../services/hud/src/rlaif/hud/static/js/panels/segments/pay.js";
import { headOf, scoreOf } from "../../services/hud/src/rlaif/hud/static/js/panels/segments/score.js";
import { chartsOf } from "../../services/hud/src/rlaif/hud/static/js/panels/timeline/specs.js";
import { GLOSSARY, questOf } from "../../services/hud/src/rlaif/hud/static/js/parts.js";
import { judge } from "../../services/hud/src/rlaif/hud/static/js/status.js";

const AT = "2026-11-20T12:00:00Z";
const RUN = { run_id: "run-1", status: "training", received_at: AT, env_steps: 13_824, steps_per_second: 43, frames_per_second: 1510, episode_length_mean: 2556.3, milestones_mean: 1.05 };
const shows = (text, pattern) => assert.match(text.replace(/\s+/g, " "), pattern);

test("decisions, emulator steps and frames are named wherever the run counts them", () => {
  const text = drawn((body) => run.draw?.(body, { run: RUN }, /** @type {any} */ (null)));
  shows(text, /43 decisions\/s, 1,510 frames\/s/);
  shows(text, /Episode length2,556 emulator steps/);
  assert.match(GLOSSARY.step, /a decision of the policy; not an emulator step or frame/);
});

test("a segment is measured in emulator steps, and placed in the run by its decisions", () => {
  const detail = { segment: null, manifest: { run_id: "run-1", created_at: AT, env_step: 15_360, decision_steps: 75, frames: 312 }, capture: null, capture_problem: null };
  const head = headOf({ episode_id: "e-1", segment_id: "s-1" }, detail, /** @type {any} */ (""));
  shows(textOf(head), /Length75 emulator steps, 312 game frames/);
  assert.deepEqual(paySpecs({ steps: [], first_potential: null }).charts.map(({ name }) => name), ["Reward per emulator step"]);
});

test("the quest of a segment is one sentence, across objectives too", () => {
  const quest = { start: { objective: 2, distance: 6 }, end: { objective: 2, distance: 4.67 }, rise: 0.06, objectives: 18, votes: 3, source: "votes" };
  assert.equal(textOf(questOf({ segment_id: "s-1", score: { quest } })), "Quest: objective 2 of 18, 6 → 4.67 half screens left (+0.06 objectives)");
  const on = { ...quest, end: { objective: 3, distance: 12 }, rise: 0.5 };
  assert.equal(textOf(questOf({ segment_id: "s-1", score: { quest: on } })), "Quest: objective 2 → 3 of 18, 6 → 12 half screens left (+0.50 objectives)");
});

test("milestones of the run panel, of the charts and of the headline say which ones they count", () => {
  shows(drawn((body) => run.draw?.(body, { run: RUN }, /** @type {any} */ (null))), /Milestones at the end1\.1 with those of the start state/);
  const chart = chartsOf({ points: [], loads: [] }, null).find(({ id }) => id === "milestones");
  assert.equal(chart?.series[0].name, "mean of up to 100 episodes", "there may be fewer");
  assert.match(chart?.note ?? "", /from the game's start/);
});

test("levels are explained where they stand, for progress too, which no vote gives as a level", () => {
  const line = { criterion: "progress", weight: 0.4, score: { votes: [2, 1, 2], value: 1, agreement: 0.67, source: "votes", judge: "state" }, share: 1, part: 1, decided_by: "votes", known_level: null };
  const text = textOf(...scoreOf({ rubric: [line], weighted: 1 }).filter(Boolean));
  shows(text, /0 worse, 1 no change, 2 better\. The level of progress follows from the voted positions on the quest: any rise is 2/);
});

test("the page has one age of the frame, to the display, and the header has none", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse(AT) });
  const live = { link: { open: true, attempt: 0, retryAt: null }, mode: "live", stats: { view: () => ({ fps: 17.8, age: 12, slowest: 40, lost: 0, of: 57 }) } };
  const screen = { env: "env-0", frames_per_second: 19.9, received_at: AT };
  assert.equal(judge({ live: /** @type {any} */ (live), store: { state: { screen }, known: true } }).note, "env-0 · 19.9 fps");
  const figures = arrival(/** @type {any} */ ({ live }), /** @type {any} */ ({ every() {} }));
  assert.equal(textOf(figures), "17.8 fps12 ms (40 ms) latency0/57 lost— round trip");
});

test("the watchdog never has seen more iterations than it looks at", () => {
  const report = { alarms: 0, alarm: null, window: 40 };
  const full = textOf(watchdog({ ...report, iterations: 53 }, null));
  assert.match(full, /over the last 40 iterations\.$/);
  assert.match(textOf(watchdog({ ...report, iterations: 13 }, null)), /over the last 40 iterations, 13 of them so far\.$/);
});

test("a figure that no iteration has reported is not called one without an iteration", () => {
  const noneOf = (points) => chartsOf({ points, loads: [] }, null).find(({ id }) => id === "vf_loss")?.none;
  assert.equal(noneOf([]), "No iteration yet.");
  assert.equal(noneOf([{ env_step: 1, episodes: 0, low: {}, high: {}, paid: {}, learned_from: null, learner: {} }]), "The trainer has not reported it.");
});
