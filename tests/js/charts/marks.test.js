import assert from "node:assert/strict";
import { test } from "node:test";

import { held, nameMarks } from "../../../services/hud/src/rlaif/hud/static/js/charts/draw.js";

const mark = (at, label) => ({ at, step: at, label });
const texts = (marks) => nameMarks(marks).map(({ text }) => text);

test("marks that lie apart keep their names", () => {
  assert.deepEqual(texts([mark(10, "v1"), mark(100, "v2")]), ["v1", "v2"]);
});

test("names that would touch become one, from the first to the last", () => {
  assert.deepEqual(texts([mark(10, "v1"), mark(15, "v2"), mark(20, "v3"), mark(200, "v4")]), ["v1–v3", "v4"]);
});

test("a name that grew and touches the one before it takes that one in, too", () => {
  assert.deepEqual(texts([mark(0, "v8"), mark(30, "v9"), mark(33, "v10"), mark(36, "v11")]), ["v8–v11"]);
});

test("a repeated label is described once", () => {
  assert.deepEqual(texts([mark(10, "v2"), mark(12, "v3"), mark(14, "v2")]), ["v2…"]);
});

test("marks of two kinds are not described as one row of versions", () => {
  assert.deepEqual(texts([mark(10, "v2"), { ...mark(12, "1-0→2-0"), kind: "takeover" }]), ["v2…"]);
});

test("a name stays inside of the picture", () => {
  const [name] = nameMarks([mark(2, "v1")]);
  assert.equal(held(name, 300), 6.5);
});
