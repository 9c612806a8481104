// Messages shown while there is no run yet, in the place of the screen and in the run panel.

import { h } from "./dom.js";
import { ago, secondsSince } from "./clock.js";

const QUIET_SECONDS = 10; // a HUD that young has had no chance to hear anybody

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
  const note = () => ["Starting Ray and the emulators, ", ago(run.status_since, { suffix: " elapsed" }), "."];
  return { key: `starting ${run.status_since}`, title: "The trainer is starting.", note };
}

function beforePlay(run, search) {
  const words = run.phase_words ? ` Now: ${run.phase_words}.` : "";
  if (search?.running) return { key: "searches", title: "The run starts with a search.", note: () => ["No policy is playing yet, so there is no screen. The search tree shows the findings."] };
  if (run.phase !== "demonstrations") return null;
  return { key: `demonstrations ${words}`, title: "The run is creating demonstrations from the search results.", note: () => [h("span", { class: "reported" }, `The policy then trains on them.${words}`)] };
}

function ofTrainer({ services, health }) {
  const trainer = services?.find(({ name }) => name === "trainer");
  if (trainer && ["ready", "not ready"].includes(trainer.state)) {
    const why = Object.values(trainer.checks).find(({ ok }) => !ok)?.detail ?? "It is preparing the run.";
    return { key: `up ${why}`, title: "The trainer is running; no run has started yet.", note: () => [why] };
  }
  const others = services?.some(({ heard_at }) => heard_at !== null);
  const young = health?.started_at && secondsSince(health.started_at) < QUIET_SECONDS;
  if (others || young || !services) {
    const note = () => (health?.started_at ? ["Waiting for ", ago(health.started_at, { suffix: "" }), "."] : []);
    return { key: "waiting", title: "No report from the trainer yet.", note };
  }
  const note = () => ["Start a run with ", h("code", {}, "make demo")];
  return { key: "none", title: "No trainer has reported yet.", note };
}
