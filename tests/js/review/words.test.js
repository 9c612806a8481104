import assert from "node:assert/strict";
import { test } from "node:test";

import { agreed, isJudge, kappaOf, lineOf, nameOf, pairOf, said, sameAs } from "../../../services/hud/src/rlaif/hud/static/js/review/words.js";

test("how many judges said the same is one sentence", () => {
  assert.equal(agreed({ agreed: 2, asked: 3 }), "You agreed with 2 of 3 judges.");
  assert.equal(agreed({ agreed: 0, asked: 2 }), "You agreed with none of 2 judges.");
  assert.equal(agreed({ agreed: 1, asked: 1 }), "You and the judge agree.");
  assert.equal(agreed({ agreed: 0, asked: 1 }), "You and the judge disagree.");
  assert.equal(agreed({ agreed: 0, asked: 0 }), "No judge has an opinion on this pair.");
});

test("who has no opinion neither agrees nor disagrees", () => {
  assert.equal(said({ says: null }), "no opinion");
  assert.equal(sameAs({ says: null }, "a"), "none");
  assert.equal(sameAs({ says: "equal" }, "equal"), "same");
  assert.equal(sameAs({ says: "b" }, "a"), "other");
});

test("judges are distinguished from other raters", () => {
  assert.equal(nameOf("state"), "state judge");
  assert.equal(nameOf("reward-model", 7), "reward model v7");
  assert.ok(isJudge("vision"));
  assert.ok(!isJudge("panel"));
  assert.equal(nameOf("constructor"), "constructor judge", "a judge may have any name");
});

test("a kappa is a number only when there are votes enough, and unknown is no 0", () => {
  const row = { rater: "state", votes: 25, pairs: 25, agreed: 20, kappa: 0.62, low: 0.3, high: 0.86, enough: true };
  assert.deepEqual(kappaOf(row, 20), { kappa: "0.62", interval: "0.30 to 0.86" });
  assert.deepEqual(kappaOf({ ...row, low: -0.1 }, 20), { kappa: "0.62", interval: "−0.10 to 0.86" });
  assert.deepEqual(kappaOf({ ...row, votes: 3, enough: false }, 20), { kappa: "—", interval: "too few votes (n = 3 of 20)" });
  assert.deepEqual(kappaOf({ ...row, kappa: null, low: null, high: null }, 20), { kappa: "—", interval: "all answers are the same" });
  assert.equal(kappaOf({ ...row, low: null, high: null }, 20).kappa, "0.62");
});

test("a line of the log shows the vote, whether it was blind, and withdrawals", () => {
  const line = { number: 3, kind: "vote", actor: "ada", a: "two", b: "one", choice: "a", undoes: null, blind: true };
  assert.equal(lineOf(line), "A is better");
  assert.equal(lineOf({ ...line, choice: "equal", blind: false }), "equal, not blind");
  assert.equal(lineOf({ ...line, choice: "skip", blind: true }), "skipped");
  assert.equal(lineOf({ ...line, kind: "undo", choice: null, undoes: 3, blind: false }), "withdrew vote 3");
  assert.equal(pairOf(line), "one--two");
});
