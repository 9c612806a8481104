// What a page makes of a change; browsers/deltas.py makes them and has the same tests.

import assert from "node:assert/strict";
import { test } from "node:test";

import { applied } from "../../services/hud/src/rlaif/hud/static/js/deltas.js";

test("a value takes the place of the one before", () => {
  assert.equal(applied(1, { v: null }), null);
  assert.deepEqual(applied([1], { v: { a: 1 } }), { a: 1 });
});

test("members are changed, added and taken away; the others stay as they are", () => {
  const old = { a: { b: 1, c: 2 }, d: [1], e: 5 };
  const now = applied(old, { o: { a: { o: { b: { v: 3 } } }, f: { v: null } }, d: ["e"] });
  assert.deepEqual(now, { a: { b: 3, c: 2 }, d: [1], f: null });
  assert.equal(now.d, old.d, "what did not change is the same list");
  assert.deepEqual(old, { a: { b: 1, c: 2 }, d: [1], e: 5 }, "the old value is left alone");
});

test("a list is made of runs of its elements, changed ones and new ones", () => {
  const old = [{ id: 3 }, { id: 2 }, { id: 1 }];
  const now = applied(old, { l: [{ v: [{ id: 4 }] }, [0, 1], { i: 1, c: { o: { id: { v: 22 } } } }] });
  assert.deepEqual(now, [{ id: 4 }, { id: 3 }, { id: 22 }]);
  assert.equal(now[1], old[0]);
});

test("points inside a list stay points", () => {
  assert.deepEqual(applied([[1, 2]], { l: [[0, 1], { v: [[3, 4]] }] }), [[1, 2], [3, 4]]);
});

test("a name may be any word", () => {
  const now = applied({}, JSON.parse('{"o": {"__proto__": {"v": {"polluted": 1}}}}'));
  assert.equal(now.polluted, undefined);
  assert.deepEqual(Object.keys(now), ["__proto__"]);
});

for (const [what, value, change] of [
  ["no list", { a: 1 }, { l: [[0, 1]] }],
  ["no object", [1], { o: { a: { v: 1 } } }],
  ["nothing", undefined, { o: {} }],
  ["too many elements", [1, 2], { l: [[1, 2]] }],
  ["no such element", [1], { l: [{ i: 1, c: { v: 2 } }] }],
]) {
  test(`a change of another value is noticed: ${what}`, () => {
    assert.throws(() => applied(value, change));
  });
}
