// One answer to "is this live?": for the chip in the header, the banners and the screen's overlay.

import { secondsSince } from "./clock.js";
import { byId, setText } from "./dom.js";
import { age, duration, tenth } from "./format.js";
import { silence } from "./silence.js";

const STALE_SECONDS = 2;

const ICONS = { live: "●", stale: "◐", paused: "‖", replay: "↺", disconnected: "✕", connecting: "○", empty: "○" };
const WORDS = { live: "LIVE", stale: "STALE", paused: "PAUSED", replay: "REPLAY", disconnected: "DISCONNECTED", connecting: "CONNECTING", empty: "WAITING" };

/** @typedef {{name: keyof typeof WORDS, note: string, overlay: string, why?: string}} Status  why: what the HUD said when it closed the connection */

/**
 * What is true now of an app's connection and store, so that it can be read off at any time.
 *
 * @param {{live: {link: {open: boolean, attempt: number, retryAt: number | null, reason?: string}, mode: "live" | "paused" | "replay", rewind: {behind: number}}, store: {state: any, past: string | null, known: boolean}}} app
 * @param {number} [now] ms
 * @returns {Status}
 */
export function judge({ live, store }, now = Date.now()) {
  const { link, mode } = live;
  if (!link.open && link.attempt > 0) return lost(link, now);
  if (!link.open || store.past !== null || !store.known) return connecting(store, now);
  const { screen, run } = store.state;
  if (!screen) return { name: "empty", note: run ? waiting(run) : "no run yet", overlay: "" };
  if (mode === "replay") return { name: "replay", note: `${duration(live.rewind.behind / 1000)} ago`, overlay: "" };
  const seconds = secondsSince(screen.received_at);
  if (seconds > STALE_SECONDS) {
    const why = silence(store.state, seconds);
    return { name: "stale", note: why, overlay: why };
  }
  if (mode === "paused") return { name: "paused", note: "the run continues", overlay: "Paused. The run continues." };
  return { name: "live", note: liveNote(screen), overlay: "" };
}

function waiting({ status }) {
  return status === "failed" ? "the run failed" : `${status}, no frame yet`;
}

/** @returns {Status} */
function lost({ attempt, retryAt, reason: why = "" }, now) {
  const wait = Math.max(0, Math.ceil(((retryAt ?? now) - now) / 1000));
  const note = wait > 0 ? `retry in ${wait} s (attempt ${attempt})` : `trying now (attempt ${attempt})`;
  return { name: "disconnected", note, why, overlay: "Connection to the HUD lost. Showing the last frame." };
}

/** @returns {Status} */
function connecting({ past }, now) {
  if (past === null) return { name: "connecting", note: "", overlay: "" };
  const words = `${age((now - Date.parse(past)) / 1000)} ago`;
  return { name: "connecting", note: `showing data from ${words}`, overlay: `Data from ${words}.` };
}

function liveNote(screen) {
  const lag = (Date.parse(screen.received_at) - Date.parse(screen.captured_at)) / 1000;
  const parts = [screen.env, `${tenth(screen.frames_per_second)} fps`];
  if (lag >= 0 && lag < 60) parts.push(`${duration(lag)} old`);
  return parts.join(" · ");
}

/** Show it in the header. @param {Status} status */
export function showStatus(status) {
  const chip = byId("status");
  chip.dataset.state = status.name;
  setText(chip.querySelector(".icon"), ICONS[status.name]);
  setText(chip.querySelector("strong"), WORDS[status.name]);
  setText(chip.querySelector(".note"), status.note);
}
