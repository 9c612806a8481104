import assert from "node:assert/strict";
import { test } from "node:test";

import { isCharacter, Keys, nameOf } from "../../services/hud/src/rlaif/hud/static/js/shell.js";

function setUp() {
  const values = new Map();
  const clock = { now: 0 };
  const done = [];
  const storage = { getItem: (name) => values.get(name) ?? null, setItem: (name, value) => values.set(name, value) };
  const keys = new Keys({ now: () => clock.now, storage });
  const press = (key, more = {}) => {
    const event = { key, shiftKey: false, target: null, defaultPrevented: false, preventDefault() {}, ...more };
    return keys.press(event);
  };
  const bind = (names, group) => keys.bind(Object.fromEntries(names.map((name) => [name, { label: `does ${name}`, run: () => done.push(name) }])), group);
  return { keys, press, bind, done, clock };
}

/** An element that is one of these: "button". */
const on = (...tags) => ({ closest: (selector) => (tags.some((tag) => selector.split(", ").includes(tag)) ? {} : null) });

test("a key has the name that its bindings write", () => {
  assert.equal(nameOf({ key: " ", shiftKey: false }), "Space");
  assert.equal(nameOf({ key: "ArrowLeft", shiftKey: true }), "Shift+ArrowLeft");
  assert.equal(nameOf({ key: "J", shiftKey: true }), "j");
  assert.equal(nameOf({ key: "?", shiftKey: true }), "?");
});

test("a bound key runs, and an unbound one is left to the browser", () => {
  const { press, bind, done } = setUp();
  const unbind = bind(["j"]);
  assert.equal(press("j"), true);
  assert.equal(press("k"), false);
  unbind();
  assert.equal(press("j"), false);
  assert.deepEqual(done, ["j"]);
});

test("the newest binding of a key wins until it is taken away", () => {
  const { keys, press } = setUp();
  const done = [];
  keys.bind({ j: { label: "old", run: () => done.push("old") } });
  const unbind = keys.bind({ j: { label: "new", run: () => done.push("new") } });
  press("j");
  unbind();
  press("j");
  assert.deepEqual(done, ["new", "old"]);
});

test("two keys in a row are one binding, if the second comes soon", () => {
  const { press, bind, done, clock } = setUp();
  bind(["g l", "l"]);
  press("g");
  press("l");
  press("g");
  clock.now += 5000;
  press("l");
  assert.deepEqual(done, ["g l", "l"]);
});

test("what is typed into a field stays there, and a button keeps Space and Enter", () => {
  const { press, bind, done } = setUp();
  bind(["j", "Space", "Enter"]);
  assert.equal(press("j", { target: on("input") }), false);
  assert.equal(press(" ", { target: on("button") }), false);
  assert.equal(press("Enter", { target: on("a") }), false);
  assert.equal(press("j", { target: on("button") }), true);
  assert.deepEqual(done, ["j"]);
});

test("keys of the browser and of the system are left alone", () => {
  const { press, bind } = setUp();
  bind(["j"]);
  for (const held of ["ctrlKey", "metaKey", "altKey"]) assert.equal(press("j", { [held]: true }), false);
});

test("letters alone can be switched off; the help and other keys stay", () => {
  const { keys, press, bind, done } = setUp();
  bind(["j", "g l", "Space", "?"]);
  keys.letters = false;
  for (const key of ["j", "g", "l", " ", "?"]) press(key);
  assert.deepEqual(done, ["Space", "?"]);
  assert.equal(isCharacter("g l"), true);
  assert.equal(isCharacter("Space"), false);
});

test("the help lists what is bound, by groups", () => {
  const { keys, bind } = setUp();
  bind(["g l"], "Pages");
  bind(["Space"]);
  keys.bind({ x: { label: "hidden", run() {}, hidden: true } });
  assert.deepEqual(keys.listing(), [["Pages", [["g l", "does g l"]]], ["This page", [["Space", "does Space"]]]]);
});
