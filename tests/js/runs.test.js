import assert from "node:assert/strict";
import { test } from "node:test";

import { textOf } from "./document.js";

import { comparedIn, differences, distinct, repeat, settings, unlisted } from "../../services/hud/src/rlaif/hud/static/js/pages/runs.js";

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

test("runs are compared with the last one, and too few episodes give no interval", () => {
  const runs = [{ run_id: "run-1", name: null }, { run_id: "run-0", name: "slow" }];
  const compared = (milestones) => textOf(differences(runs, [{ before_run: "run-0", after_run: "run-1", until_step: 400, milestones: { before: 2, after: 3, n_before: 20, n_after: 30, ...milestones } }]));
  assert.match(compared({ change: 1, low: 0.4, high: 1.6 }), /Those of slow.*run-13\.00 \(n = 30\)2\.00 \(n = 20\)\+1\.00 \(\+0\.40 to \+1\.60\)300 to 400/);
  assert.match(compared({ change: null, low: null, high: null }), /too few episodes/);
  assert.equal(differences(runs, []), false);
  runs[0].game = "seedling-vale";
  assert.match(compared({ change: 1, low: 0.4, high: 1.6 }), /\+1\.00/, "the game of the other is not known");
  runs[1].game = "world-7-30";
  assert.match(compared({ change: 1, low: 0.4, high: 1.6 }), /another game/);
});

test("runs of one name are told apart by their ids", () => {
  const runs = [{ run_id: "run-2", name: "slow" }, { run_id: "run-1", name: "slow" }, { run_id: "run-0", name: null }];
  assert.deepEqual(distinct(runs).map(({ name }) => name), ["slow (run-2)", "slow (run-1)", null]);
});

test("an address compares known runs, each once and no more than there are styles", () => {
  const runs = [..."abcdefgh"].map((id) => ({ run_id: id }));
  const compared = (/** @type {string} */ text) => comparedIn(new URLSearchParams(text), runs).join("");
  assert.equal(compared(""), "ab");
  assert.equal(compared("compare=a,x,a,b"), "ab");
  assert.equal(compared("compare=none"), "");
  assert.equal(compared("compare=a,b,c,d,e,f,g"), "bcdefg");
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
