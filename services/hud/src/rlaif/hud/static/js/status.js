// One answer to "is this live?": for the chip in the header, the banners and the screen's overlay.

import { byId, h, setText, show } from "./dom.js";
import { age, duration, tenth } from "./format.js";
import { secondsSince } from "./clock.js";

const STALE_SECONDS = 2;

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
  if (!state.screen) return { name: "empty", note: state.run ? "no frame yet" : "no trainer yet", overlay: "" };
  const seconds = secondsSince(state.screen.received_at);
  const ended = ["stopped", "failed"].includes(state.run?.status) ? ` · run ${state.run.status}` : "";
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
  const before = frame.dataset.state;
  frame.dataset.state = status.name;
  if (status.name !== "empty") return setText(overlay, status.overlay);
  if (before === "empty" && overlay.childElementCount) return;
  const text = state.run ? "The trainer runs, but has sent no frame yet." : "No trainer has reported yet.";
  show(overlay, h("p", {}, text), h("p", { class: "empty" }, "Start one with ", h("code", {}, "make demo")));
}

function showBanners(status, { state, connection, retry }) {
  const wanted = [];
  if (status.name === "disconnected") {
    wanted.push({ key: "lost", tone: "bad", title: "Connection to the HUD lost", text: `${status.note}.`, button: ["Retry now", retry] });
  }
  for (const [name, check] of Object.entries((connection.open && state.health?.checks) || {})) {
    if (!check.ok) wanted.push({ key: name, tone: "warn", title: `The HUD is up, the ${name === "bus" ? "message bus" : name} is not`, text: `${check.detail}` });
  }
  if (connection.open && state.run && state.run.reward_model_refused !== null) {
    const { reward_model_refused: version, reward_model_refusal: reason } = state.run;
    wanted.push({ key: "refused", tone: "warn", title: `The trainer refused reward model v${version}`, text: `It keeps the one before. ${reason}` });
  }
  const banners = byId("banners");
  for (const old of [...banners.children]) if (!wanted.some(({ key }) => key === old.dataset.key)) old.remove();
  for (const banner of wanted) {
    const old = banners.querySelector(`[data-key="${banner.key}"]`);
    if (old) setText(old.querySelector("span"), banner.text);
    else banners.append(makeBanner(banner));
  }
}

function makeBanner({ key, tone, title, text, button }) {
  return h("div", { class: "banner", role: "alert", "data-key": key, "data-tone": tone },
    h("strong", {}, title), h("span", {}, text), button ? h("button", { type: "button", onclick: button[1] }, button[0]) : null);
}
