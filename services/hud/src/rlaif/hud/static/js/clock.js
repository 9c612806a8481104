// The HUD's clock, as far as the page knows it, and ages that tick.

import { h, setText } from "./dom.js";
import { age, timeOfDay } from "./format.js";

const KEPT = 8;

let offset = 0; // HUD clock minus this browser's, ms
/** @type {{trip: number, offset: number}[]} */
let answers = [];

/** Take over the HUD's clock from a message that was just received; it was on its way for an unknown time. */
export function setClock(iso) {
  if (!answers.length) offset = Date.parse(iso) - Date.now();
}

/** Take over the HUD's clock from an answer: it was read between the question and the answer; the quickest knows best. */
export function syncClock(iso, asked, answered) {
  answers = [...answers, { trip: answered - asked, offset: Date.parse(iso) - (asked + answered) / 2 }].slice(-KEPT);
  offset = answers.reduce((best, each) => (each.trip < best.trip ? each : best)).offset;
}

/** The HUD that answers now may be another one. */
export function forgetClock() {
  answers = [];
}

/** ms that a question and its answer take, at best; null when none was answered. */
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

/** Let all ages tick. */
export function tickAges() {
  for (const element of document.querySelectorAll("time[data-suffix]")) refresh(element);
}
