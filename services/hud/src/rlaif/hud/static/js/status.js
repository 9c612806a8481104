// One answer to "is this live?": for the chip in the header, the banners and the screen's overlay.

import { byId, h, setText, show } from "./dom.js";
import { age, duration, tenth } from "./format.js";
import { ago, secondsSince } from "./clock.js";
import { notYet } from "./starting.js";

const STALE_SECONDS = 2;
const TROUBLES_SHOWN = 4;

const ICONS = { live: "●", stale: "◐", paused: "‖", disconnected: "✕", connecting: "○", empty: "○" };
const WORDS = { live: "LIVE", stale: "STALE", paused: "PAUSED", disconnected: "DISCONNECTED", connecting: "CONNECTING", empty: "WAITING" };

/** What is true now; pure, so that it can be read off at any time. */
export function judge({ connection, state, paused, now }) {
  if (!connection.open) {
    if (connection.attempt === 0) return { name: "connecting", note: "", overlay: "" };
    const wait = Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
    const note = wait > 0 ? `retry in ${wait} s (attempt ${connection.attempt})` : `trying now (attempt ${connection.attempt})`;
    return { name: "disconnected", note, overlay: "Connection to the HUD lost. This is the last frame." };
  }
  if (!state.screen) return { name: "empty", note: state.run ? `${state.run.status}, no frame yet` : "no trainer yet", overlay: "" };
  const seconds = secondsSince(state.screen.received_at);
  const ended = state.run && state.run.status !== "training" ? ` · run ${state.run.status}` : "";
  if (seconds > STALE_SECONDS) {
    return { name: "stale", note: `no frame for ${age(seconds)}${ended}`, overlay: `No frame for ${age(seconds)}${ended}` };
  }
  if (paused) return { name: "paused", note: "the run goes on", overlay: "Paused. The run goes on." };
  return { name: "live", note: liveNote(state.screen), overlay: "" };
}

function liveNote(screen) {
  const lag = (Date.parse(screen.received_at) - Date.parse(screen.captured_at)) / 1000;
  const parts = [screen.env, `${tenth(screen.frames_per_second)} fps`];
  if (lag >= 0 && lag < 60) parts.push(`${duration(lag)} old`);
  return parts.join(" · ");
}

/** Show it. */
export function showStatus(status, { state, connection, retry }) {
  const chip = byId("status");
  chip.dataset.state = status.name;
  setText(chip.querySelector(".icon"), ICONS[status.name]);
  setText(chip.querySelector("strong"), WORDS[status.name]);
  setText(chip.querySelector(".note"), status.note);
  showOverlay(status, state);
  showBanners(status, { state, connection, retry });
}

function showOverlay(status, state) {
  const frame = byId("screen-frame");
  const overlay = byId("screen-overlay");
  frame.dataset.state = status.name;
  if (status.name !== "empty") {
    delete overlay.dataset.key;
    return setText(overlay, status.overlay);
  }
  const wait = notYet(state) ?? { key: "no frame", title: "The trainer runs, but has sent no frame yet.", note: () => [] };
  if (overlay.dataset.key === wait.key) return;
  overlay.dataset.key = wait.key;
  show(overlay, h("p", {}, wait.title), h("p", { class: "empty" }, ...wait.note()));
}

function showBanners(status, { state, connection, retry }) {
  const wanted = [];
  if (status.name === "disconnected") {
    wanted.push({ key: "lost", tone: "bad", title: "Connection to the HUD lost", text: `${status.note}.`, button: ["Retry now", retry] });
  } else if (connection.open) {
    const troubles = state.troubles ?? [];
    for (const { key, who, what, since } of troubles.slice(0, TROUBLES_SHOWN)) wanted.push({ key, tone: "warn", title: who, text: what, since });
    const more = troubles.length - TROUBLES_SHOWN;
    if (more > 0) wanted.push({ key: "more", tone: "warn", title: "and more", text: `${more} more things are in the way; GET /api/v1/state lists them all.` });
  }
  const banners = byId("banners");
  const kept = new Map([...banners.children].map((banner) => [banner.dataset.key, banner]));
  const now = wanted.map((banner) => refresh(kept.get(banner.key), banner) ?? makeBanner(banner));
  if (now.length !== banners.children.length || now.some((element, index) => element !== banners.children[index])) banners.replaceChildren(...now);
}

/** The banner that is there, with its text of now: a new one would be read aloud again. */
function refresh(old, { text }) {
  if (old) setText(old.querySelector("span"), text);
  return old;
}

function makeBanner({ key, tone, title, text, since, button }) {
  return h("div", { class: "banner", role: "alert", "data-key": key, "data-tone": tone },
    h("strong", {}, title), h("span", {}, text), since ? ago(since, { prefix: "for ", suffix: "" }) : null,
    button ? h("button", { type: "button", onclick: button[1] }, button[0]) : null);
}
