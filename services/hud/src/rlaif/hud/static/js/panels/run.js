// How far the run is, and what its reward is made of.

import { byId, h, show } from "../dom.js";
import { ago } from "../clock.js";
import { compact, count, reward, tenth, UNKNOWN } from "../format.js";
import { empty, facts } from "../parts.js";

export function drawRun({ run, reward: parts, loop }) {
  byId("run-id").querySelector("code").textContent = run?.run_id ?? loop?.run_id ?? UNKNOWN;
  if (!run) {
    show(byId("run"), empty("No trainer has reported yet. Start one with ", h("code", {}, "make demo"), "."));
    return;
  }
  show(byId("run"),
    facts([
      ["Environment steps", compact(run.env_steps), `${count(run.env_steps)} steps`],
      ["Speed", h("span", {}, count(run.steps_per_second), h("small", {}, " steps/s"))],
      ["Episodes finished", count(run.episodes)],
      ["Iteration", count(run.iteration)],
      ["Mean return", reward(run.episode_return_mean), "Environment reward, last 100 episodes"],
      ["Mean shaping", reward(run.shaped_return_mean), "Shaping reward, last 100 episodes"],
      ["Rooms an episode", tenth(run.rooms_mean), "Distinct rooms"],
      ["Milestones an episode", tenth(run.milestones_mean), "Story steps, read off the RAM"],
      ["Episode length", h("span", {}, count(run.episode_length_mean), h("small", {}, " steps"))],
      ["Segments captured", h("span", {}, count(run.segments_captured), h("small", {}, ` ${count(run.segments_skipped)} skipped`)), "Skipped: over the judges' budget"],
      ["Trainer", h("span", {}, run.status, " ", h("small", {}, ago(run.received_at)))],
    ]),
    parts ? rewardParts(parts) : null,
  );
}

function rewardParts(parts) {
  const rows = Object.entries(parts.parts).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a)).slice(0, 6);
  const most = Math.max(...rows.map(([, value]) => Math.abs(value)), 1e-9);
  return h("div", { class: "parts" },
    h("h3", {}, `Reward by part, last iteration: ${reward(parts.total)}`),
    h("ul", {}, ...rows.map(([name, value]) => part(name, value, most))));
}

function part(name, value, most) {
  const fill = h("i", { "data-sign": value < 0 ? "minus" : "plus" });
  const width = (50 * Math.abs(value)) / most;
  fill.style.width = `${width}%`;
  fill.style.left = `${value < 0 ? 50 - width : 50}%`;
  return h("li", {}, h("span", { class: "name", title: name }, name), h("span", { class: "both", "aria-hidden": "true" }, fill), h("span", { class: "amount" }, reward(value)));
}
