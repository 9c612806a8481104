// The HUD's clock as the page knows it.
import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

import { dated, forgetClock, hudNow, roundTrip, setClock, syncClock } from "../../services/hud/src/rlaif/hud/static/js/format.js";

const NOON = Date.parse("2026-11-20T12:00:00Z");
const at = (ms) => new Date(NOON + ms).toISOString();

mock.timers.enable({ apis: ["Date"], now: NOON });
afterEach(() => forgetClock());

test("a received message sets the clock until the first response", () => {
  setClock(at(-3000));
  assert.equal(hudNow(), NOON - 3000);
  assert.equal(roundTrip(), null);
  syncClock(at(5020), NOON, NOON + 40);
  assert.equal(hudNow(), NOON + 5000, "it was read half way between question and answer");
  setClock(at(-3000));
  assert.equal(hudNow(), NOON + 5000);
});

test("of the newest answers the quickest knows best", () => {
  syncClock(at(100), NOON, NOON + 200);
  syncClock(at(310), NOON, NOON + 20);
  syncClock(at(900), NOON, NOON + 400);
  assert.equal(roundTrip(), 20);
  assert.equal(hudNow(), NOON + 300);
  for (let count = 0; count < 8; count += 1) syncClock(at(650), NOON, NOON + 100);
  assert.equal(roundTrip(), 100, "a quick one of long ago may be of another machine's clock");
  assert.equal(hudNow(), NOON + 600);
});

test("a time of another day has its date", () => {
  assert.match(dated(at(0)), /^\d\d:\d\d:\d\d$/);
  assert.match(dated(at(-72 * 3_600_000)), /^17 Nov \d\d:\d\d:\d\d$/);
});
