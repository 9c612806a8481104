import assert from "node:assert/strict";
import { test } from "node:test";

import { textOf } from "./document.js";

import { settings } from "../../services/hud/src/rlaif/hud/static/js/pages/runs.js";

const run = (id, settings) => ({ run_id: id, name: null, provenance: settings && { settings } });

test("only settings that differ are compared, by the run that has them", () => {
  const text = textOf(settings([run("run-1", { RATE: "0.001", SEED: "7" }), run("run-0", { RATE: "0.0003", SEED: "7" })]));
  assert.match(text, /RATE0\.0010\.0003/);
  assert.doesNotMatch(text, /SEED/);
});

test("a run that has not reported its settings is named, and differs in none", () => {
  assert.equal(textOf(settings([run("run-1", null), run("run-0", { RATE: "0.0003" })])), "run-1 has not reported its settings.");
  assert.equal(textOf(settings([run("run-1", { RATE: "1" }), run("run-0", { RATE: "1" })])), "The settings of these runs are the same.");
});
