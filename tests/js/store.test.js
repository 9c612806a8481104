import assert from "node:assert/strict";
import { test } from "node:test";

import { Cursor } from "../../services/hud/src/rlaif/hud/static/js/charts/axis.js";
import { Store } from "../../services/hud/src/rlaif/hud/static/js/live.js";

const soon = () => new Promise((done) => setTimeout(done, 30));

test("nothing is drawn before something is known", async () => {
  const store = new Store();
  const drawn = [];
  store.watch(["run"], (state) => drawn.push(state.run));
  assert.deepEqual(drawn, []);
  store.merge({ taken_at: "2026-11-20T12:00:00Z", run: 1 });
  await soon();
  assert.deepEqual(drawn, [1]);
});

test("a panel that is opened later is drawn at once, and no more after it is left", async () => {
  const store = new Store();
  store.merge({ taken_at: "2026-11-20T12:00:00Z", run: 1 });
  const drawn = [];
  const leave = store.watch(["run"], (state) => drawn.push(state.run));
  assert.deepEqual(drawn, [1]);
  await soon();
  leave();
  store.merge({ run: 2 });
  await soon();
  assert.equal(drawn.includes(2), false);
});

test("a panel is drawn when one of its sections changed, and not for others", async () => {
  const store = new Store();
  store.merge({ taken_at: "2026-11-20T12:00:00Z" });
  let drawn = 0;
  store.watch(["run", "loop"], () => (drawn += 1));
  await soon();
  const before = drawn;
  store.merge({ judge: 1 });
  await soon();
  assert.equal(drawn, before);
  store.merge({ loop: 1 });
  store.merge({ run: 1 });
  await soon();
  assert.equal(drawn, before + 1);
});

test("the cursor reports each move once to all listeners, with its source", () => {
  const cursor = new Cursor();
  const told = [];
  const leave = cursor.watch((step, source) => told.push([step, source]));
  cursor.set(5, "chart");
  cursor.set(5, "chart");
  cursor.set(null);
  leave();
  cursor.set(6);
  assert.deepEqual(told, [[5, "chart"], [null, null]]);
  assert.equal(cursor.get(), 6);
});
