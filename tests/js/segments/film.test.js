import assert from "node:assert/strict";
import { test } from "node:test";

import { readFilm } from "../../../services/hud/src/rlaif/hud/static/js/segments/film.js";

function film(index, body = [1, 2, 3]) {
  const text = new TextEncoder().encode(typeof index === "string" ? index : JSON.stringify(index));
  const bytes = new Uint8Array(4 + text.length + body.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  bytes.set(body, 4 + text.length);
  return bytes.buffer;
}

const picture = { step: 0, frame: 4, x: 0, y: 0, width: 1, height: 1, offset: 1, length: 2 };
const INDEX = { version: 1, segment_id: "s", type: "image/webp", width: 160, height: 144, pictures: [picture] };

test("a film is an index and the bytes that it names", () => {
  const { index, body } = readFilm(film(INDEX));
  assert.equal(index.segment_id, "s");
  assert.deepEqual([...body.subarray(1, 3)], [2, 3]);
});

test("a truncated video is rejected", () => {
  assert.throws(() => readFilm(film(INDEX).slice(0, -1)), /truncated/);
  assert.throws(() => readFilm(film(INDEX).slice(0, 20)), /truncated/);
  assert.throws(() => readFilm(new ArrayBuffer(2)), /truncated/);
});

test("a film of another version is not guessed at", () => {
  assert.throws(() => readFilm(film({ ...INDEX, version: 2 })), /version/);
  assert.throws(() => readFilm(film({ ...INDEX, pictures: [] })), /version/);
});
