// Names that people can read: ids cut short with a button that copies them, rooms by their names.

import { h, setText } from "../dom.js";
import { hex, UNKNOWN } from "../format.js";

const SHOWN = 14;
const SAID = 1500; // ms

/** The end of an id: its beginning is the run's. @param {string} id */
export const short = (id) => (id.length <= SHOWN ? id : `…${id.slice(1 - SHOWN)}`);

/** An id, as `shown`, with a button that copies all of it. @param {string} id @param {string} what @param {string} [shown] */
export function idOf(id, what, shown = short(id)) {
  const button = h("button", { type: "button", class: "copy", title: `Copy ${what}: ${id}`, "aria-label": `Copy ${what} ${id}`, onclick: () => copy(id, button) }, "copy");
  return h("span", { class: "id" }, h("code", { title: id }, shown), button);
}

/** Copy a text and confirm it on the button. @param {string} text @param {HTMLElement} button */
export async function copy(text, button) {
  const before = button.textContent ?? "";
  const worked = await written(text);
  setText(button, worked ? "copied" : "not allowed");
  setTimeout(() => setText(button, before), SAID);
  return worked;
}

/** @param {string} text */
async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not allowed, or not over https
  }
}

/** A room by its name, or by its number. @param {{group: number | null, room: number | null, name?: string | null}} place */
export function roomName({ group, room, name }) {
  if (room === null) return UNKNOWN;
  return name ?? `${group ? `${group}:` : ""}${hex(room)}`;
}

/** A story step in words: "seed_hall_key" → "seed hall key". @param {string} name */
export const inWords = (name) => name.replaceAll("_", " ");

/** Why a segment was captured, for people. @type {Record<string, string>} */
export const REASONS = {
  uniform: "uniform sample",
  disagreement: "model uncertainty",
  "new room": "new room",
  milestone: "milestone",
};
