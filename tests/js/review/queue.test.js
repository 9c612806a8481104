import assert from "node:assert/strict";
import { test } from "node:test";

import { Queue } from "../../../services/hud/src/rlaif/hud/static/js/review/player.js";

const clip = (name) => ({ segment_id: name, episode_id: `of-${name}`, decision_steps: 75 });
const pair = (one, other) => ({ pair_id: `${one}--${other}`, a: clip(one), b: clip(other) });

/** A service with these pairs, which forgets none; and what was asked of it. */
function made(pairs) {
  const told = { asked: 0, loaded: [] };
  const queue = new Queue(
    async () => {
      told.asked += 1;
      return { items: pairs, labels: 7 };
    },
    async (each) => {
      told.loaded.push(each.pair_id);
      return `films of ${each.pair_id}`;
    },
  );
  return { queue, told };
}

test("pairs come in the order of the service, each once, with their films", async () => {
  const { queue } = made([pair("a", "b"), pair("c", "d"), pair("e", "f")]);
  const seen = [];
  for (let next = await queue.take(); next; next = await queue.take()) seen.push(await next.films);
  assert.deepEqual(seen, ["films of a--b", "films of c--d", "films of e--f"]);
  assert.equal(queue.labels, 7);
});

test("the films of the next pair are loaded before it is asked for, and no more than those", async () => {
  const { queue, told } = made([pair("a", "b"), pair("c", "d"), pair("e", "f"), pair("g", "h")]);
  await queue.take();
  await queue.prepare();
  await queue.prepare();
  assert.deepEqual(told.loaded, ["a--b", "c--d"]);
  assert.equal((await queue.take()).pair.pair_id, "c--d");
  assert.deepEqual(told.loaded, ["a--b", "c--d"]);
});

test("two clips that are one are never shown", async () => {
  const { queue } = made([pair("a", "a"), pair("b", "c")]);
  assert.equal((await queue.take()).pair.pair_id, "b--c");
  assert.equal(await queue.take(), null);
});

test("a pair that was shown by its address does not come again", async () => {
  const { queue } = made([pair("a", "b"), pair("c", "d")]);
  queue.shown(pair("a", "b"));
  assert.equal((await queue.take()).pair.pair_id, "c--d");
});

test("films that cannot be read are the business of who shows them", async () => {
  const queue = new Queue(async () => ({ items: [pair("a", "b")], labels: 2 }), async () => {
    throw new Error("gone");
  });
  const next = await queue.take();
  await assert.rejects(next.films, /gone/);
});

test("a service that is away is an error for who takes, and none for who prepares", async () => {
  let away = true;
  const queue = new Queue(async () => {
    if (away) throw new Error("away");
    return { items: [pair("a", "b")], labels: 2 };
  }, async () => null);
  await queue.prepare();
  await assert.rejects(queue.take(), /away/);
  away = false;
  assert.equal((await queue.take()).pair.pair_id, "a--b");
});

test("when another person asks, what was ready for the first one is forgotten", async () => {
  const { queue, told } = made([pair("a", "b"), pair("c", "d"), pair("e", "f")]);
  await queue.prepare();
  queue.clear();
  await queue.take();
  assert.equal(told.asked, 2);
});
