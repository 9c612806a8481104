import assert from "node:assert/strict";
import { test } from "node:test";

import { bannersOf, judge, notYet } from "../../services/hud/src/rlaif/hud/static/js/status.js";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const before = (seconds) => new Date(NOW - 1000 * seconds).toISOString();
const frame = (seconds) => ({ env: "env-0", frames_per_second: 19.9, captured_at: before(seconds + 0.084), received_at: before(seconds) });

function status({ link = {}, paused = false, state = {} } = {}, t) {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const live = { link: { open: true, attempt: 0, retryAt: null, ...link }, paused };
  return judge({ live, store: { state, known: Object.keys(state).length > 0 } }, NOW);
}

test("a frame that is fresh is live, with its environment and rate", (t) => {
  const { name, note } = status({ state: { screen: frame(0.1) } }, t);
  assert.equal(name, "live");
  assert.equal(note, "env-0 · 19.9 fps");
});

test("a frame that is old is stale, and says since when and why", (t) => {
  const { name, overlay } = status({ state: { screen: frame(5), run: { status: "stopped" } } }, t);
  assert.deepEqual([name, overlay], ["stale", "No frame for 5 s · run stopped"]);
});

test("a lost connection counts down to the next try", (t) => {
  const { name, note } = status({ link: { open: false, attempt: 3, retryAt: NOW + 3600 }, state: { screen: frame(0) } }, t);
  assert.deepEqual([name, note], ["disconnected", "retry in 4 s (attempt 3)"]);
});

test("the first connection is no lost one", (t) => {
  assert.equal(status({ link: { open: false } }, t).name, "connecting");
});

test("no frame yet is told apart from no run yet, and from a run that cannot start", (t) => {
  assert.equal(status({ state: { run: { status: "starting" } } }, t).note, "starting, no frame yet");
  t.mock.timers.reset();
  assert.equal(status({ state: { taken_at: before(0) } }, t).note, "no run yet");
  t.mock.timers.reset();
  assert.equal(status({ state: { run: { status: "failed" } } }, t).note, "the run failed");
});

const LIVE = { name: "live", note: "" };
const issue = (number, description = `misses ${number}`) => ({ key: `t${number}`, service: `judge ${number}`, description, since: before(number) });
const keys = (banners) => banners.map(({ key }) => key);

test("a healthy pipeline has no banner", () => {
  assert.deepEqual(bannersOf({ status: LIVE, open: true, state: { issues: [], build: "a" }, build: "a" }), []);
});

test("of many issues the first are shown with the number of the others", () => {
  const banners = bannersOf({ status: LIVE, open: true, state: { issues: [1, 2, 3, 4, 5, 6].map((number) => issue(number)) }, build: "" });
  assert.deepEqual(keys(banners), ["t1", "t2", "t3", "t4", "more"]);
  assert.match(banners.at(-1).text, /^2 more/);
});

test("one issue of several services is one banner with the oldest start", () => {
  const issues = [issue(1, "is silent"), issue(2), issue(3, "is silent")];
  const [silent, other] = bannersOf({ status: LIVE, open: true, state: { issues }, build: "" });
  assert.deepEqual([silent.title, silent.since, other.title], ["judge 1, judge 3", before(3), "judge 2"]);
});

test("an issue links to its page", () => {
  const [alarm, other] = bannersOf({ status: LIVE, open: true, state: { issues: [{ ...issue(1), page: "/models" }, issue(2)] }, build: "" });
  assert.deepEqual([alarm.page, other.page], ["/models", undefined]);
});

test("an issue shown on this page has no banner", () => {
  const state = { issues: [{ ...issue(1), page: "/models#models-watch" }, { ...issue(2), page: "/models" }] };
  for (const [path, there] of [["/models", ["t2"]], ["/models/2", ["t1", "t2"]], ["/", ["t1", "t2"]]]) assert.deepEqual(keys(bannersOf({ status: LIVE, open: true, state, build: "", path })), there);
});

test("without a connection old issues are not shown", () => {
  const state = { issues: [issue(1)], build: "b" };
  assert.deepEqual(keys(bannersOf({ status: { name: "disconnected", note: "" }, open: false, state, build: "a" })), ["lost"]);
  assert.deepEqual(bannersOf({ status: { name: "connecting", note: "" }, open: false, state, build: "a" }), []);
});

test("another build is a new version that can be loaded", () => {
  const [banner] = bannersOf({ status: LIVE, open: true, state: { issues: [], build: "b" }, build: "a" });
  assert.deepEqual([banner.key, banner.action], ["version", "reload"]);
});

test("before the first run the nearest cause of waiting is shown", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const titles = (state) => notYet(state)?.title ?? null;
  const health = (seconds, ok = true) => ({ started_at: before(seconds), checks: { bus: { ok, detail: ok ? null : "refused" } } });
  const services = (state, reported_at = before(1)) => [{ name: "trainer", state, checks: {}, reported_at }];
  assert.equal(titles({ health: health(60, false), services: services("ready") }), "The HUD is running; the message bus is not available.");
  assert.equal(titles({ health: health(3), services: services("unknown", null) }), "No report from the trainer yet.");
  assert.equal(titles({ health: health(60), services: services("unknown", null) }), "No trainer has reported yet.");
  assert.equal(titles({ health: health(60), services: services("ready") }), "The trainer is running; no run is active.");
  assert.equal(titles({ run: { status: "starting", status_since: before(5) } }), "The trainer is starting.");
  assert.equal(titles({ run: { status: "waiting", trouble: "disk full", steps_per_second: null } }), "The trainer is waiting.");
  assert.equal(titles({ run: { status: "training", phase: "search", steps_per_second: null }, search: { running: true } }), "The run starts with a search.");
  assert.equal(titles({ run: { status: "training", steps_per_second: 500 } }), null);
});

test("a silent environment is named", (t) => {
  const watch = { env: "1-0", silent_since: before(3) };
  const { name, note, overlay } = status({ state: { screen: frame(3), run: { status: "training" }, watch } }, t);
  assert.equal(name, "stale");
  assert.match(overlay, /^1-0 has not responded for 3 s;/);
  assert.equal(note, overlay);
});

test("a runner that waits for the learner does not count as silent", (t) => {
  const watch = { env: "1-0", silent_since: null };
  const { overlay } = status({ state: { screen: frame(4), run: { status: "training" }, watch } }, t);
  assert.equal(overlay, "1-0 has not moved for 4 s: its runner is waiting for the learner");
});

test("a trainer without a run is not said to prepare one, and the last run is named", () => {
  const services = [{ name: "trainer", state: "ready", checks: {} }];
  const wait = notYet({ services, headline: { run_id: "run-7" } });
  assert.match(wait.title, /no run is active/);
  assert.match(wait.key, /run-7/);
  assert.doesNotMatch(notYet({ services, headline: { run_id: null } }).key, /last run/);
});
