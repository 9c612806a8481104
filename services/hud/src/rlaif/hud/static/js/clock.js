// Offset of the HUD's clock, and ages that are updated every second.

import { h, setText } from "./dom.js";
import { age, timeOfDay } from "./format.js";

const KEPT = 8;

let offset = 0; // HUD clock minus this browser's, ms
/** @type {{trip: number, offset: number}[]} */
let answers = [];

/** Estimate the offset from a message just received, whose transmission time is unknown. */
export function setClock(iso) {
  if (!answers.length) offset = Date.parse(iso) - Date.now();
}

/** Estimate the offset from a request and its response; the one with the shortest round trip is used. */
export function syncClock(iso, asked, answered) {
  answers = [...answers, { trip: answered - asked, offset: Date.parse(iso) - (asked + answered) / 2 }].slice(-KEPT);
  offset = answers.reduce((best, each) => (each.trip < best.trip ? each : best)).offset;
}

/** Discard the estimate: another HUD instance may respond. */
export function forgetClock() {
  answers = [];
}

/** Shortest round trip in ms; null before the first response. */
export const roundTrip = () => (answers.length ? Math.min(...answers.map(({ trip }) => trip)) : null);

/** ms since 1970 by the HUD's clock. */
export const hudNow = () => Date.now() + offset;

/** Seconds since a time of the HUD's clock. */
export function secondsSince(iso) {
  return (hudNow() - Date.parse(iso)) / 1000;
}

/** A time as an age that ticks: "12 s ago". */
export function ago(iso, { prefix = "", suffix = " ago" } = {}) {
  const element = h("time", { datetime: iso, title: `${iso} (${timeOfDay(iso)})`, "data-prefix": prefix, "data-suffix": suffix });
  refresh(element);
  return element;
}

function refresh(element) {
  const seconds = secondsSince(element.getAttribute("datetime"));
  setText(element, `${element.dataset.prefix}${age(seconds)}${element.dataset.suffix}`);
}

/** Update all ages. */
export function tickAges() {
  for (const element of document.querySelectorAll("time[data-suffix]")) refresh(element);
}
