// The HUD's clock, as far as the page knows it, and ages that tick.

import { h, setText } from "./dom.js";
import { age, timeOfDay } from "./format.js";

let offset = 0; // HUD clock minus this browser's, ms

/** Take over the HUD's clock from a message that was just received. */
export function setClock(iso) {
  offset = Date.parse(iso) - Date.now();
}

/** Seconds since a time of the HUD's clock. */
export function secondsSince(iso) {
  return (Date.now() + offset - Date.parse(iso)) / 1000;
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
