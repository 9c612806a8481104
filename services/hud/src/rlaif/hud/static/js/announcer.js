// Announces important changes to screen readers, at most every 5 s.

import { byId } from "./dom.js";

const PAUSE = 5000;
const KINDS = ["rm.published", "rm.loaded", "rm.rejected", "dead-letter", "run.status", "screen.takeover"];
/** @type {string | null} */
let waiting = null;
/** @type {number | null} */
let timer = null;

/** @param {{kind: string, text: string}} entry  of the event log */
export function announceEvent(entry) {
  if (KINDS.includes(entry.kind)) announce(entry.text);
}

/** @param {string} text */
export function announce(text) {
  waiting = text;
  if (timer === null) speak();
}

function speak() {
  timer = null;
  if (waiting === null) return;
  byId("announcer").textContent = waiting;
  waiting = null;
  timer = setTimeout(speak, PAUSE);
}
