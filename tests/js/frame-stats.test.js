import assert from "node:assert/strict";
import { test } from "node:test";

import { believable, FrameStats } from "../../services/hud/src/rlaif/hud/static/js/live.js";
import { readHeader } from "../../services/hud/src/rlaif/hud/static/js/screen.js";

const UNKNOWN = { fps: null, age: null, slowest: null, lost: null, of: null };

test("rate, age and losses are those of the last five seconds", () => {
  const stats = new FrameStats();
  for (let seq = 1; seq <= 400; seq += 1) if (seq % 4) stats.drawn({ seq, age: seq < 300 ? 900 : 40 + (seq % 20), at: seq * 50 });
  const { fps, age, slowest, lost, of } = stats.view(399 * 50);
  assert.ok(Math.abs(fps - 15) < 0.2, `${fps} of 20 frames per second, as every fourth is missing`);
  assert.ok(age >= 40 && age <= 60 && slowest >= age && slowest < 60);
  assert.deepEqual([lost, of], [25, 100]);
});

test("what is not known is null", () => {
  const stats = new FrameStats();
  assert.deepEqual(stats.view(0), UNKNOWN);
  stats.drawn({ seq: 1, age: null, at: 0 });
  assert.deepEqual(stats.view(10), UNKNOWN, "one frame has no rate");
  stats.drawn({ seq: 2, age: null, at: 50 });
  assert.equal(stats.view(60).age, null);
  assert.equal(stats.view(60).lost, 0);
  assert.deepEqual(stats.view(60_000), UNKNOWN, "old frames are ignored");
});

test("a pause, or another life of the HUD, is no loss", () => {
  const stats = new FrameStats();
  stats.drawn({ seq: 1, age: 5, at: 0 });
  stats.clear();
  for (const seq of [900, 901, 1, 2]) stats.drawn({ seq, age: 5, at: seq });
  assert.deepEqual([stats.view(3).lost, stats.view(3).of], [0, 1]);
});

test("an age that cannot be is not known", () => {
  assert.equal(believable(40, 10), 40);
  assert.equal(believable(-5, 10), 0, "the HUD's clock is known no better");
  assert.equal(believable(-50, 10), null);
  assert.equal(believable(-1, null), null);
  assert.equal(believable(3_600_000, 10), null, "the trainer's clock is an hour behind");
});

test("the header is read as the contracts pack it", () => {
  const bytes = new DataView(new ArrayBuffer(25));
  bytes.setUint8(0, 1);
  bytes.setUint32(8, 77, true);
  bytes.setBigUint64(12, 1_795_404_793_277_335n, true);
  bytes.setUint32(20, 4_000_000_000, true);
  assert.deepEqual(readHeader(bytes.buffer), { seq: 77, step: 4_000_000_000, captured: 1_795_404_793_277.335 });
});
