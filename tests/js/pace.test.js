// Frames that came in one message are shown at the pace at which they were taken.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { framesOf, readHeader } from "../../services/hud/src/rlaif/hud/static/js/frame-header.js";
import { Pace } from "../../services/hud/src/rlaif/hud/static/js/pace.js";

let shown;
let pace;
beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  shown = [];
  pace = new Pace((frame) => shown.push([readHeader(frame).seq, Date.now()]));
});

/** @param {number} seq @param {number} captured ms */
function frame(seq, captured, size = 30) {
  const buffer = new ArrayBuffer(size);
  const view = new DataView(buffer);
  [1, 1, 2].forEach((value, at) => view.setUint8(at, value));
  view.setUint32(8, seq, true);
  view.setBigUint64(12, BigInt(captured * 1000), true);
  return buffer;
}

/** @param {ArrayBuffer[]} frames */
function group(frames) {
  const parts = [Uint8Array.of(1, 2, frames.length, 0)];
  for (const each of frames) parts.push(new Uint8Array(Uint32Array.of(each.byteLength).buffer), new Uint8Array(each));
  return new Blob(parts).arrayBuffer();
}

test("a message is one frame or a group of them", async () => {
  const one = frame(1, 0);
  assert.deepEqual(framesOf(one), [one]);
  const frames = [frame(1, 0, 30), frame(2, 50, 41), frame(3, 100, 24)];
  const read = framesOf(await group(frames));
  assert.deepEqual(read.map((each) => new Uint8Array(each)), frames.map((each) => new Uint8Array(each)));
});

test("a frame alone is shown at once", () => {
  pace.take([frame(1, 5000)]);
  assert.deepEqual(shown, [[1, 0]]);
});

test("those of a group follow each other as they did in the game", () => {
  pace.take([frame(1, 5000), frame(2, 5050), frame(3, 5090)]);
  for (let ms = 0; ms < 200; ms += 1) mock.timers.tick(1);
  assert.deepEqual(shown, [[1, 0], [2, 50], [3, 90]]);
});

test("what still waits when others come is shown before them", () => {
  pace.take([frame(1, 5000), frame(2, 5050), frame(3, 5100)]);
  mock.timers.tick(60);
  pace.take([frame(4, 5150)]);
  mock.timers.tick(500);
  assert.deepEqual(shown.map(([seq]) => seq), [1, 2, 3, 4]);
  assert.deepEqual(shown.at(-1), [4, 60]);
});

test("a game that stood still, or a clock that was set back, is not waited for", () => {
  pace.take([frame(1, 5000), frame(2, 65_000), frame(3, 1000)]);
  mock.timers.tick(0);
  assert.deepEqual(shown, [[1, 0]]);
  mock.timers.tick(100);
  mock.timers.tick(1);
  assert.deepEqual(shown.map(([seq]) => seq), [1, 2, 3]);
});
