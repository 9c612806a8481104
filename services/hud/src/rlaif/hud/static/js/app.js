// What every page and panel gets: one object with what they share.

import { api, kept } from "./api.js";
import { Cursor } from "./charts/axis.js";
import { byId } from "./dom.js";
import { Keys } from "./shell.js";

/**
 * @typedef {object} App
 * @property {import("./live.js").Store} store  sections of the snapshot; `watch(sections, draw)`
 * @property {import("./live.js").Live} live  the connection, frames, pause
 * @property {typeof api} api  `get(path)`, `post(path, body)`; throws `ApiProblem`
 * @property {(address: string, how?: {replace?: boolean}) => void} go  to another view
 * @property {(values: Record<string, string | number | null | undefined>) => void} setQuery  of the address, without leaving the view
 * @property {Keys} keys
 * @property {typeof announce} announce  to screen readers, politely
 * @property {Cursor} cursor  over environment steps
 */

/** @param {{store: App["store"], live: App["live"], router: import("./router.js").Router}} parts @returns {App} */
export function makeApp({ store, live, router }) {
  return {
    store, live, api, announce,
    keys: new Keys(),
    cursor: new Cursor(),
    go: (address, how) => void router.go(address, how),
    setQuery: (values) => router.setQuery(values),
  };
}

const PAUSE = 5000;
const KINDS = ["rm.published", "rm.loaded", "rm.rejected", "dead-letter", "run.status", "screen.switch"];
/** @type {string | null} */
let waiting = null;
/** @type {number | null} */
let timer = null;

/** @param {{kind: string, text: string}} entry  of the event log */
export function announceEvent({ kind, text }) {
  if (KINDS.includes(kind)) announce(text);
  if (["rm.loaded", "run.status"].includes(kind)) notify(text, kind);
}

const NOTICES = "rlaif.notices";

/** Whether a person wants notifications of the browser. */
export const wantsNotices = () => kept.getItem(NOTICES) === "on" && "Notification" in window && Notification.permission === "granted";

/** Switch them on or off; the browser may ask first. Returns whether they are on. @param {boolean} on */
export async function wantNotices(on) {
  if (on) await Notification.requestPermission();
  kept.setItem(NOTICES, on ? "on" : "off");
  return wantsNotices();
}

/** Show a notification while the page is hidden. @param {string} body @param {string} tag  a newer notification with the same tag replaces it */
export function notify(body, tag) {
  try {
    if (document.hidden && wantsNotices()) new Notification("Zelda RLAIF", { body, tag });
  } catch (error) {
    console.warn("this browser shows notifications of service workers only", error);
  }
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
