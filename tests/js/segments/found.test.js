import assert from "node:assert/strict";
import { test } from "node:test";

import { Found } from "../../../services/hud/src/rlaif/hud/static/js/segments/found.js";

const name = (id) => ({ episode_id: "e", segment_id: id, more: "is left out" });

/** The pages that the HUD would answer with, and what it was asked. */
function pages(...answers) {
  const asked = [];
  return { asked, get: async (path) => (asked.push(path), answers[asked.length - 1]) };
}

test("neighbours are those of the list that the reader came from", async () => {
  const found = new Found();
  found.set({ order: "lowest_score" }, ["a", "b", "c"].map(name), null);
  const api = pages();
  assert.equal((await found.neighbour(api, "b", 1))?.segment_id, "c");
  assert.equal((await found.neighbour(api, "b", -1))?.segment_id, "a");
  assert.deepEqual([await found.neighbour(api, "a", -1), await found.neighbour(api, "c", 1)], [null, null]);
  assert.deepEqual(api.asked, []);
});

test("at the end of a page the next one is asked for, with the same filters", async () => {
  const found = new Found();
  found.set({ run: "r" }, [name("a")], "more");
  const api = pages({ items: [name("b")], next_cursor: null });
  assert.equal((await found.neighbour(api, "a", 1))?.segment_id, "b");
  assert.match(api.asked[0], /run=r.*cursor=more/);
  assert.deepEqual(found.place("b"), { at: 2, of: 2, more: false });
});

test("a segment that was opened by its address is looked for in the newest ones", async () => {
  const found = new Found();
  const api = pages({ items: [name("a"), name("b")], next_cursor: null });
  assert.equal((await found.neighbour(api, "a", 1))?.segment_id, "b");
  assert.equal(new Found().place("a"), null);
});

test("one that is not among them goes on to the newest", async () => {
  const found = new Found();
  assert.equal((await found.neighbour(pages({ items: [name("a")], next_cursor: null }), "old", 1))?.segment_id, "a");
});
