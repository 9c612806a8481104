// What to say while there is no run to show yet; told alike by the game's place and the run's panel.

import { h } from "./dom.js";
import { ago, secondsSince } from "./clock.js";

const QUIET_SECONDS = 10; // a HUD that young has had no chance to hear anybody

/** @typedef {{key: string, title: string, note: () => import("./dom.js").Child[]}} Wait */

/** What is waited for while the trainer has not begun, else null; the key changes with the words. @param {any} state @returns {Wait | null} */
export function notYet(state) {
  if (state.run) return ofRun(state);
  const bus = state.health?.checks.bus;
  if (bus && !bus.ok) return { key: `bus ${bus.detail}`, title: "The HUD is up, the message bus is not.", note: () => [bus.detail, ". The HUD tries again by itself."] };
  return ofTrainer(state);
}

function ofRun({ run, search }) {
  if (run.status === "waiting" && run.steps_per_second === null) {
    return { key: `waiting ${run.trouble}`, title: "The trainer waits.", note: () => [run.trouble ?? "It tries again by itself."] };
  }
  if (run.status === "training" && run.steps_per_second === null) return beforePlay(run, search);
  if (run.status !== "starting") return null;
  const note = () => ["It sets up Ray and the emulators, ", ago(run.status_since, { suffix: " so far" }), "."];
  return { key: `starting ${run.status_since}`, title: "The trainer is starting.", note };
}

function beforePlay(run, search) {
  const words = run.phase_words ? ` Now: ${run.phase_words}.` : "";
  if (search?.running) return { key: "searches", title: "The run searches the game first.", note: () => ["No policy plays yet, so there is no screen. The tree of progress shows what the search finds."] };
  if (run.phase !== "demonstrations") return null;
  return { key: `demonstrations ${words}`, title: "The run makes demonstrations of what its search found.", note: () => [h("span", { class: "told" }, `The policy learns along them and plays next.${words}`)] };
}

function ofTrainer({ services, health }) {
  const trainer = services?.find(({ name }) => name === "trainer");
  if (trainer && ["ready", "not ready"].includes(trainer.state)) {
    const why = Object.values(trainer.checks).find(({ ok }) => !ok)?.detail ?? "It prepares its run.";
    return { key: `up ${why}`, title: "The trainer is up; no run has begun yet.", note: () => [why] };
  }
  const others = services?.some(({ heard_at }) => heard_at !== null);
  const young = health?.started_at && secondsSince(health.started_at) < QUIET_SECONDS;
  if (others || young || !services) {
    const note = () => (health?.started_at ? ["Listening for ", ago(health.started_at, { suffix: "" }), "."] : []);
    return { key: "waiting", title: "No word from the trainer yet.", note };
  }
  const note = () => ["Start one with ", h("code", {}, "make demo")];
  return { key: "none", title: "No trainer has reported yet.", note };
}
