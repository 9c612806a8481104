// The headline, and the figures of the run with the components of its reward.

import { h, show } from "../dom.js";
import { ago, compact, count, decimal, percent, reward, tenth } from "../format.js";
import { bothBar, facts, fig } from "../parts.js";
import { notYet } from "../status.js";

function draw(body, state) {
  const { run, reward: parts } = state;
  const wait = notYet(state);
  if (wait) {
    show(body, h("p", {}, wait.title), h("p", { class: "empty" }, ...wait.note()));
    return;
  }
  const figure = (name, text) => fig(`run.${name}`, text(run[name]));
  show(body,
    facts([
      ["Steps trained", figure("env_steps", compact), `${count(run.env_steps)} decisions at the last iteration`],
      ["Speed", h("span", {}, figure("steps_per_second", count), h("small", {}, " decisions/s, ", figure("frames_per_second", count), " frames/s"))],
      ["Episodes finished", figure("episodes", count)],
      ["Iteration", figure("iteration", count)],
      ["Mean return", figure("episode_return_mean", reward), "Environment reward, last 100 episodes"],
      ["Rise of the potential", figure("shaped_return_mean", reward), "Per episode, times the weight of shaping: the shaping reward without discounting. Mean of the last 100"],
      ["Share of the reward model", h("span", {}, figure("paid_share", percent), h("small", {}, " of reward, ", figure("paid_advantage_share", percent), " of advantage")), "Shaping reward in the last iteration: share of the sum of absolute rewards, and of the variance of the advantages"],
      ["Rooms per episode", figure("rooms_mean", tenth), "Distinct rooms"],
      ["Milestones at the end", figure("milestones_mean", tenth), "Owned at the end of an episode, including those of its start state; mean of the last 100. The headline and the charts count only those reached since the start"],
      ["Episode length", h("span", {}, figure("episode_length_mean", count), h("small", {}, " emulator steps")), "Of four frames each"],
      ["Segments skipped", figure("segments_skipped", count), "Not captured because the judges are over budget"],
      ["Trainer", h("span", {}, run.status, " ", h("small", {}, ago(run.received_at)))],
    ]),
    parts ? rewardParts(parts) : null,
  );
}

function rewardParts(parts) {
  const rows = Object.entries(parts.parts).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a)).slice(0, 6);
  const most = Math.max(...rows.map(([, value]) => Math.abs(value)), 1e-9);
  return h("div", { class: "parts" },
    h("h3", {}, "Reward by component, last iteration: ", fig("reward.total", reward(parts.total))),
    h("ul", {}, ...rows.map(([name, value]) => part(name, value, most))));
}

function part(name, value, most) {
  return h("li", {}, h("span", { class: "name", title: name }, name), bothBar(value, most), h("span", { class: "amount", "data-figure": `reward.parts.${name}` }, reward(value)));
}

/** What the run waits for changes with the time, too. */
function mount(body, app, scope) {
  scope.every(1000, () => app.store.known && notYet(app.store.state) && draw(body, app.store.state));
}

/** @type {import("../panel.js").Panel} */
export const run = { id: "run", title: "Run", attributes: { tabindex: "0", role: "group", "aria-labelledby": "run-title" }, sections: ["run", "reward", "loop", "search", "services", "health"], mount, draw };

/** @typedef {{text: string, figure: string | null}} Part @typedef {{before: number | null, after: number | null, n_before: number, n_after: number, change: number | null, low: number | null, high: number | null}} Difference */

/** @param {HTMLElement} body */
function mountHeadline(body) {
  body.append(
    h("p", { class: "goal" }, "An agent learns to play a game. Language models judge segments of its play, and a reward model trained on their judgements rewards better play."),
    h("p", { class: "sentence", id: "headline-sentence" }),
    h("p", { class: "sides", id: "headline-sides" }),
  );
}

/** @param {HTMLElement} body @param {any} state */
function drawHeadline(body, { headline }) {
  const [, sentence, sides] = body.children;
  if (!headline) return;
  patch(sentence, headline.parts);
  show(sides, ...withAndWithout(headline.runs));
}

/** Only changed words are updated, so that a selection or a screen reader is not interrupted. @param {Element} sentence @param {Part[]} parts */
function patch(sentence, parts) {
  const key = parts.map(({ text, figure }) => `${figure ?? ""}=${text}`).join("\n");
  if (sentence.getAttribute("data-key") === key) return;
  sentence.setAttribute("data-key", key);
  show(sentence, ...parts.map(({ text, figure }) => (figure ? h(MAIN.test(figure) ? "b" : "span", { "data-figure": figure }, text) : text)));
}

const MAIN = /\.(before|after|since_version|live_version)$/; // the others say how sure they are

/** @param {{with_run: string, without_run: string, until_step: number, milestones: Difference} | null} runs */
function withAndWithout(runs) {
  if (!runs) return [h("span", { class: "quiet-text" }, "No run without judges to compare with. Start one: ", h("code", {}, "POST /api/v1/runs"), " of the trainer with ", h("code", {}, "{\"settings\": {\"TRAINER_SHAPING_WEIGHT\": 0}}"))];
  const { milestones } = runs;
  const field = (/** @type {string} */ name) => `headline.runs.milestones.${name}`;
  const change = milestones.change === null ? ["; too few episodes to compare"] : [": ", fig(field("change"), reward(milestones.change)), " (", fig(field("low"), reward(milestones.low)), " to ", fig(field("high"), reward(milestones.high)), ")"];
  return [
    "Milestones per episode with judges ", fig(field("after"), decimal(milestones.after)), ", without ", fig(field("before"), decimal(milestones.before)), ...change,
    h("span", { class: "quiet-text" }, " n = ", fig(field("n_after"), count(milestones.n_after)), " and ", fig(field("n_before"), count(milestones.n_before)), ", up to step ", fig("headline.runs.until_step", compact(runs.until_step)), ", runs ", h("code", {}, runs.with_run), " and ", h("code", {}, runs.without_run)),
  ];
}

/** @type {import("../panel.js").Panel} */
export const headline = { id: "headline", title: "Is it getting better?", sections: ["headline"], mount: mountHeadline, draw: drawHeadline };
