import assert from "node:assert/strict";
import { test } from "node:test";

import { textOf } from "./document.js";

import { repeat, settings, unlisted } from "../../services/hud/src/rlaif/hud/static/js/pages/runs.js";

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

test("a run that starts is named before it is in the list", () => {
  assert.match(unlisted([], { run_id: "run-1", status: "starting" }), /^Run run-1 is starting; /);
  assert.match(unlisted([run("run-0", {})], { run_id: "run-1", status: "starting" }), /^Run run-1 is starting; /);
  assert.equal(unlisted([run("run-1", {})], { run_id: "run-1", status: "training" }), "");
  assert.match(unlisted([], null), /make demo/);
});

test("one run has all its settings, and its command says whether the judges are part of it", () => {
  const provenance = { command: "RATE=0.001 rlaif train", commit: "0123abcd", host: "here", packages: {}, settings: { RATE: "0.001", WORLDS: "" } };
  const text = (judged) => textOf(repeat({ run_id: "run-1", name: null, judged, provenance }));
  assert.match(text(true), /RATE0\.001/);
  assert.match(text(true), /WORLDS—/);
  assert.match(text(true), /Without the judges\./);
  assert.doesNotMatch(text(false), /judges/);
});
