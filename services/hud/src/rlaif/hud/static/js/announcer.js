// Tells screen readers the few things that matter, at most every 5 s.

import { byId } from "./dom.js";

const PAUSE = 5000;
const KINDS = ["rm.published", "rm.loaded", "rm.rejected", "dead-letter", "run.status"];
let waiting = null;
let timer = null;

export function announceEvent(entry) {
  if (KINDS.includes(entry.kind)) announce(entry.text);
}

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
