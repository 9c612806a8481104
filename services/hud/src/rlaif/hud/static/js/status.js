// State of the page: live or not and why, what a run waits for, and the issues in banners.

import { byId, h, keyed, setText } from "./dom.js";
import { age, ago, secondsSince, tenth } from "./format.js";

const STALE_SECONDS = 2;

const ICONS = { live: "●", stale: "◐", paused: "‖", disconnected: "✕", connecting: "○", empty: "○" };
const WORDS = { live: "LIVE", stale: "STALE", paused: "PAUSED", disconnected: "DISCONNECTED", connecting: "CONNECTING", empty: "WAITING" };

/** @typedef {{name: keyof typeof WORDS, note: string, overlay: string, why?: string}} Status  why: what the HUD said when it closed the connection */

/**
 * What is true now of an app's connection and store, so that it can be read off at any time.
 *
 * @param {{live: {link: {open: boolean, attempt: number, retryAt: number | null, reason?: string}, mode: "live" | "paused"}, store: {state: any, known: boolean}}} app
 * @param {number} [now] ms
 * @returns {Status}
 */
export function judge({ live, store }, now = Date.now()) {
  const { link, mode } = live;
  if (!link.open && link.attempt > 0) return lost(link, now);
  if (!link.open || !store.known) return { name: "connecting", note: "", overlay: "" };
  const { screen, run } = store.state;
  if (!screen) return { name: "empty", note: run ? waiting(run) : "no run yet", overlay: "" };
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

const liveNote = (screen) => `${screen.env} · ${tenth(screen.frames_per_second)} fps`;

/** Show it in the header. @param {Status} status */
export function showStatus(status) {
  const chip = byId("status");
  chip.dataset.state = status.name;
  setText(chip.querySelector(".icon"), ICONS[status.name]);
  setText(chip.querySelector("strong"), WORDS[status.name]);
  setText(chip.querySelector(".note"), status.note);
}

/** One sentence for the screen's overlay and for the header, `seconds` after the newest frame. @param {{run?: any, watch?: any}} state @param {number} seconds */
export function silence({ run, watch }, seconds) {
  if (run && run.status !== "training") return `No frame for ${age(seconds)} · run ${run.status}`;
  if (!watch?.env) return `No frame for ${age(seconds)}`;
  if (watch.silent_since) return `${watch.env} has not responded for ${age(secondsSince(watch.silent_since))}; the screen switches to one that does`;
  return `${watch.env} has not moved for ${age(seconds)}: its runner is waiting for the learner`;
}

const QUIET_SECONDS = 10; // a HUD that young may not have received any report

/** @typedef {{key: string, title: string, note: () => import("./dom.js").Child[]}} Wait */

/** What the page waits for before the run starts, else null; the key changes with the text. @param {any} state @returns {Wait | null} */
export function notYet(state) {
  if (state.run) return ofRun(state);
  const bus = state.health?.checks.bus;
  if (bus && !bus.ok) return { key: `bus ${bus.detail}`, title: "The HUD is running; the message bus is not available.", note: () => [bus.detail, ". Retrying automatically."] };
  return ofTrainer(state);
}

function ofRun({ run, search }) {
  if (run.status === "waiting" && run.steps_per_second === null) {
    return { key: `waiting ${run.trouble}`, title: "The trainer is waiting.", note: () => [run.trouble ?? "It retries automatically."] };
  }
  if (run.status === "training" && run.steps_per_second === null) return beforePlay(run, search);
  if (run.status !== "starting") return null;
  const note = () => ["Starting the emulators, ", ago(run.status_since, { suffix: " elapsed" }), "; about 25 s on an idle machine."];
  return { key: `starting ${run.status_since}`, title: "The trainer is starting.", note };
}

function beforePlay(run, search) {
  const words = run.phase_words ? ` Now: ${run.phase_words}.` : "";
  if (search?.running) return { key: "searches", title: "The run starts with a search.", note: () => ["No policy is playing yet, so there is no screen. The Search panel lists the findings."] };
  if (run.phase !== "demonstrations") return null;
  return { key: `demonstrations ${words}`, title: "The run is creating demonstrations from the search results.", note: () => [h("span", { class: "reported" }, `The policy then trains on them.${words}`)] };
}

function ofTrainer({ services, health, headline }) {
  const trainer = services?.find(({ name }) => name === "trainer");
  if (trainer && ["ready", "not ready"].includes(trainer.state)) {
    const why = Object.values(trainer.checks).find(({ ok }) => !ok)?.detail;
    const last = headline?.run_id ? `The charts show the last run, ${headline.run_id}. ` : "";
    return { key: `up ${why} ${last}`, title: "The trainer is running; no run is active.", note: () => [why ?? `${last}Unless TRAINER_AUTOSTART is false, one starts automatically. Start or resume one: `, why ? null : h("code", {}, "POST /api/v1/runs"), why ? null : " of the trainer."] };
  }
  const others = services?.some(({ reported_at: at }) => at !== null);
  const young = health?.started_at && secondsSince(health.started_at) < QUIET_SECONDS;
  if (others || young || !services) {
    const note = () => (health?.started_at ? ["Waiting for ", ago(health.started_at, { suffix: "" }), "."] : []);
    return { key: "waiting", title: "No report from the trainer yet.", note };
  }
  const note = () => ["Start a run with ", h("code", {}, "make demo")];
  return { key: "none", title: "No trainer has reported yet.", note };
}

const SHOWN = 4;

/**
 * @typedef {{key: string, tone: "warn" | "bad" | "plain", title: string, text: string, since?: string, page?: string | null, action?: "retry" | "reload"}} Banner
 * @typedef {{key: string, service: string, description: string, since: string, page?: string | null}} Issue
 */

/** The current banners; a pure function. @param {{status: {name: string, note: string, why?: string}, open: boolean, state: any, build: string, path?: string}} report  `build` is the one of this page's files, `path` its address @returns {Banner[]} */
export function bannersOf({ status, open, state, build, path }) {
  if (status.name === "disconnected") return [{ key: "lost", tone: "bad", title: status.why ? "The HUD rejected this page" : "Connection to the HUD lost", text: `${status.why || "The page shows the last known values"}; ${status.note}.`, action: "retry" }];
  if (!open) return [];
  const issues = merged(state.issues ?? []).filter(({ page }) => !page?.startsWith(`${path}#`)); // those have a place on this page
  /** @type {Banner[]} */
  const banners = issues.slice(0, SHOWN).map(({ key, service, description, since, page }) => ({ key, tone: "warn", title: service, text: description, since, page }));
  const more = issues.length - SHOWN;
  if (more > 0) banners.push({ key: "more", tone: "warn", title: "More issues", text: `${more} more; GET /api/v1/state lists all issues.` });
  if (state.build && build && state.build !== build) banners.push({ key: "version", tone: "plain", title: "A new version of this page is installed.", text: "Reload to see all fields.", action: "reload" });
  return banners;
}

/** Merge equal issues of several services into one banner. @param {Issue[]} issues */
function merged(issues) {
  /** @type {Map<string, Issue>} */
  const known = new Map();
  for (const issue of issues) {
    const { service, description, since } = issue;
    const other = known.get(description);
    const both = other && { ...other, service: `${other.service}, ${service}`, since: since < other.since ? since : other.since };
    known.set(description, both ?? issue);
  }
  return [...known.values()];
}

const LABELS = { retry: "Retry now", reload: "Reload" };

/** Show the banners; an unchanged one is not announced again. @param {Banner[]} banners @param {{retry: () => void, reload: () => void}} actions */
export function showBanners(banners, actions) {
  keyed(byId("banners"), banners, ({ key }) => key, (banner) => make(banner, actions), refresh);
}

/** @param {HTMLElement} element @param {Banner} banner */
function refresh(element, { title, text }) {
  setText(element.querySelector("strong"), title);
  setText(element.querySelector("span"), text);
}

/** @param {Banner} banner @param {Record<string, () => void>} actions */
function make({ key, tone, title, text, since, page, action }, actions) {
  return h("div", { class: "banner", role: "alert", "data-key": key, "data-tone": tone },
    h("strong", {}, title), h("span", {}, text), page ? h("a", { href: page }, "Details") : null, since ? ago(since, { prefix: "for ", suffix: "" }) : null,
    action ? h("button", { type: "button", onclick: actions[action] }, LABELS[action]) : null);
}
