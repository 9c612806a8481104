import assert from "node:assert/strict";
import { test } from "node:test";

import { Answer } from "../../services/hud/src/rlaif/hud/static/js/api.js";
import { ApiProblem, authorised, GivenUp } from "../../services/hud/src/rlaif/hud/static/js/api.js";
import { Scope } from "../../services/hud/src/rlaif/hud/static/js/dom.js";
import { measured, signature } from "../../services/hud/src/rlaif/hud/static/js/panels/models/figures.js";
import { byGroup, pay, rangeOf } from "../../services/hud/src/rlaif/hud/static/js/panels/models/version/examination.js";
import { differences, settingsOf } from "../../services/hud/src/rlaif/hud/static/js/panels/models/versions.js";

const manifest = (settings, more = {}) => ({ judge_config: "a", spec: { layout_version: "v1" }, lineage: { models: ["qwen"], rubrics: ["r"], settings: JSON.stringify(settings) }, ...more });

test("only differences between two records are listed", () => {
  assert.deepEqual(differences(manifest({ fit: { epochs: 200 } }), manifest({ fit: { epochs: 200 } })), []);
  assert.deepEqual(differences(manifest({ fit: { epochs: 200 } }), manifest({ fit: { epochs: 100 }, seed: 1 }, { judge_config: "b" })), [
    { what: "judge configuration", before: "a", after: "b" },
    { what: "setting fit.epochs", before: "200", after: "100" },
    { what: "setting seed", before: "—", after: "1" },
  ]);
});

test("a record without settings, or with broken ones, has none", () => {
  assert.equal(settingsOf(undefined).size, 0);
  assert.equal(settingsOf("{").size, 0);
});

test("what was not measured is a dash, never a zero", () => {
  assert.equal(measured("heldout_accuracy", null), "—");
  assert.equal(measured("heldout_accuracy", 0), "0 %");
  assert.equal(measured("permutation_p", 0.0004998), "0.00050");
  assert.equal(measured("permutation_p", 1.6e-7), "0.00000016");
  assert.equal(measured("permutation_p", 1e-21), "< 0.000000001", "a probability is never 0");
  assert.equal(measured("gain_over_slot", -0.0312), "−0.03");
  assert.equal(pay(null), "—");
  assert.equal(pay(-0.0124), "−0.012");
});

test("the picture of a check has room for its bound and its zero; powers of ten have none", () => {
  assert.deepEqual(rangeOf({ name: "heldout_accuracy", value: 0.7, low: null, high: null, bound: 0.55 }), [0, 1]);
  assert.equal(rangeOf({ name: "permutation_p", value: 0.1, low: null, high: null, bound: 0.2 }), null);
  const [least, most] = rangeOf({ name: "weight_ratio", value: 1.2, low: null, high: null, bound: 4 });
  assert.ok(least < 0 && most > 4);
});

test("groups sum their slots, the largest first", () => {
  const slots = [["room", 0.1, 0.2], ["items", 0.3, 0.4], ["room", -0.05, 0.3]].map(([group, mean, size]) => ({ group, mean, mean_absolute: size }));
  const found = byGroup(slots);
  assert.deepEqual(found.map(({ group, slots: n }) => [group, n]), [["room", 2], ["items", 1]]);
  assert.ok(Math.abs(found[0].mean - 0.05) < 1e-9);
});

test("the service is asked again when the champion, its pin or the lists change, and not else", () => {
  const models = { champion: { version: 1, since: "t", pinned: false, pin_reason: null, gate: {} }, withdrawn: null, rejected_count: 0, published: [{ version: 1, loaded_at_steps: [] }] };
  const same = { ...models, next: { labels: 5 } };
  assert.equal(signature(models), signature(same));
  for (const other of [{ rejected_count: 1 }, { withdrawn: "why" }, { champion: { ...models.champion, pinned: true } }, { published: [{ version: 1, loaded_at_steps: [5] }] }]) {
    assert.notEqual(signature(models), signature({ ...models, ...other }));
  }
});

const refusal = () => new ApiProblem({ title: "The bearer token is missing", detail: "", status: 401 });

function withStorage() {
  const values = new Map();
  globalThis.sessionStorage = { getItem: (name) => values.get(name) ?? null, setItem: (name, value) => values.set(name, value), removeItem: (name) => values.delete(name) };
  return values;
}

test("a token is asked for when it is missing, again when it was wrong, and then kept", async () => {
  const values = withStorage();
  const asked = [];
  const asking = async (purpose, wrong) => asked.push([purpose, Boolean(wrong)]) && ["bad", "good"][asked.length - 1];
  const work = async () => {
    if (values.get("rlaif.token") !== "good") throw refusal();
    return "done";
  };
  assert.equal(await authorised(work, "pin it", asking), "done");
  assert.deepEqual(asked, [["pin it", false], ["pin it", true]]);
  assert.equal(await authorised(work, "pin it", asking), "done");
  assert.equal(asked.length, 2);
});

test("who gives no token changes nothing, and other problems are not about tokens", async () => {
  withStorage();
  await assert.rejects(authorised(async () => { throw refusal(); }, "x", async () => null), GivenUp);
  const gone = new ApiProblem({ title: "gone", detail: "", status: 502 });
  await assert.rejects(authorised(async () => { throw gone; }, "x", async () => assert.fail("asked")), gone);
});

test("an answer shows what came, keeps it when the next question fails, and drops what is late", async () => {
  const waiting = [];
  const app = { api: { get: (path, { signal }) => new Promise((resolve, reject) => waiting.push({ path, signal, resolve, reject })) } };
  const scope = new Scope();
  const drawn = [];
  const answer = new Answer(app, scope).watch(({ value, problem, loading }) => drawn.push([value, problem?.title ?? null, loading]));
  const first = answer.ask("/a");
  const second = answer.ask("/a");
  waiting[0].resolve("late");
  waiting[1].resolve("new");
  await Promise.all([first, second]);
  assert.deepEqual(drawn.at(-1), ["new", null, false]);
  const third = answer.ask();
  waiting[2].reject(new ApiProblem({ title: "away", detail: "", status: 502 }));
  await third;
  assert.deepEqual(drawn.at(-1), ["new", "away", false]);
  const fourth = answer.ask("/b");
  assert.deepEqual(drawn.at(-1), [null, null, true], "what is another's is not shown");
  scope.end();
  waiting[3].resolve("after the end");
  await fourth;
  assert.equal(drawn.at(-1)[0], null);
});
