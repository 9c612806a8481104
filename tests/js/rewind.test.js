// Pausing, going back and going live again. Frames come every 50 ms; their number is their time / 50.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Rewind } from "../../services/hud/src/rlaif/hud/static/js/screen.js";

function playing({ seconds, ...options }) {
  const shown = [];
  const rewind = new Rewind({ show: ({ seq }) => shown.push(seq), ...options });
  const come = (from, to) => {
    for (let seq = from; seq <= to; seq += 1) rewind.take({ seq, at: seq * 50, buffer: new ArrayBuffer(1000) });
  };
  come(0, seconds * 20);
  return { rewind, shown, come };
}

test("live, each frame is shown as it comes and a minute is kept", () => {
  const { rewind, shown } = playing({ seconds: 90 });
  assert.equal(shown.length, 90 * 20 + 1);
  assert.equal(rewind.behind, 0);
  assert.equal(rewind.length, 60_000);
});

test("a pause holds the picture while frames go on to come", () => {
  const { rewind, shown, come } = playing({ seconds: 10 });
  rewind.pause();
  come(201, 300);
  assert.equal(shown.at(-1), 200);
  assert.equal(rewind.behind, 5000);
  rewind.goLive();
  assert.equal(shown.at(-1), 300);
  assert.equal(rewind.mode, "live");
});

test("one goes back by frames and by seconds, not beyond what is kept", () => {
  const { rewind, shown } = playing({ seconds: 10 });
  rewind.step(-1);
  assert.deepEqual([rewind.mode, shown.at(-1)], ["paused", 199]);
  rewind.skip(-1000);
  assert.equal(shown.at(-1), 179);
  rewind.skip(-60_000);
  assert.equal(shown.at(-1), 0);
  rewind.seek(2500);
  assert.equal(shown.at(-1), 50);
  rewind.skip(60_000);
  assert.equal(shown.at(-1), 200);
});

test("someone who paused and left is sent nothing after two minutes, and keeps a minute before the picture", () => {
  const { rewind, come } = playing({ seconds: 90 });
  rewind.pause();
  let seq = 1801;
  while (!rewind.full) come(seq, seq++);
  assert.equal(rewind.behind, 120_000);
  assert.equal(rewind.length, 180_000);
  rewind.goLive();
  assert.equal(rewind.full, false);
  assert.equal(rewind.length, 60_000);
});

test("however large the frames are, what is kept is bounded", () => {
  const { rewind } = playing({ seconds: 10, mostBytes: 50_000 });
  assert.equal(rewind.length, 49 * 50);
  const many = playing({ seconds: 10, most: 20 });
  assert.equal(many.rewind.length, 19 * 50);
});

test("before the first frame nothing can be done, and nothing breaks", () => {
  const rewind = new Rewind({ show: () => assert.fail("nothing to show") });
  rewind.pause();
  rewind.step(1);
  rewind.skip(-5);
  rewind.seek(5);
  rewind.goLive();
  assert.deepEqual([rewind.mode, rewind.behind, rewind.length, rewind.shown], ["live", 0, 0, null]);
});
