// The headline; the figures of the run with the components of its reward; its search and its curriculum, hidden without them.

import { h, show } from "../dom.js";
import { ago, compact, count, decimal, percent, reward, tenth } from "../format.js";
import { bar01, bothBar, cell, facts, fig, table } from "../parts.js";
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
      ["Milestones at the end", h("span", {}, figure("milestones_mean", tenth), h("small", {}, " with those of the start state")), "Owned at the end of an episode; mean of the last 100. The headline and the charts count only those reached since the start"],
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

/** @type {import("../parts.js").Panel} */
export const run = { id: "run", title: "Run", attributes: { tabindex: "0", role: "group", "aria-labelledby": "run-title" }, sections: ["run", "reward", "loop", "search", "services", "health"], mount, draw };

/** @typedef {{text: string, figure: string | null}} Part @typedef {{before: number | null, after: number | null, n_before: number, n_after: number, change: number | null, low: number | null, high: number | null}} Difference */

/** @param {HTMLElement} body */
function mountHeadline(body) {
  body.append(
    h("p", { class: "quiet-text" }, "An agent learns to play a game. Language models judge segments of its play, and a reward model trained on their judgements rewards better play."),
    h("p", { class: "sentence", id: "headline-sentence" }),
    h("p", { class: "sides", id: "headline-sides" }),
  );
}

/** @param {HTMLElement} body @param {any} state */
function drawHeadline(body, { headline }) {
  const [, sentence, sides] = body.children;
  if (!headline) return;
  patch(sentence, headline.parts);
  show(sides, ...(headline.run_id ? withAndWithout(headline.runs) : []));
}

/** Only changed words are updated, so that a selection or a screen reader is not interrupted. @param {Element} sentence @param {Part[]} parts */
function patch(sentence, parts) {
  const key = parts.map(({ text, figure }) => `${figure ?? ""}=${text}`).join("\n");
  if (sentence.getAttribute("data-key") === key) return;
  sentence.setAttribute("data-key", key);
  show(sentence, ...parts.map(({ text, figure }) => (figure ? h(MAIN.test(figure) ? "b" : "span", { "data-figure": figure }, text) : text)));
}

const MAIN = /\.(before|after|since_version|live_version)$/; // the others say how sure they are

/** @param {{before_run: string, after_run: string, until_step: number, milestones: Difference} | null} runs */
function withAndWithout(runs) {
  if (!runs) return [h("span", { class: "quiet-text" }, "No run without judges to compare with. Start one with ", h("code", {}, "make demo CONTROL=1"), " or ", h("code", {}, "TRAINER_SHAPING_WEIGHT=0"), ".")];
  const { milestones } = runs;
  const field = (/** @type {string} */ name) => `headline.runs.milestones.${name}`;
  const change = milestones.change === null ? ["; too few episodes to compare"] : [": ", fig(field("change"), reward(milestones.change)), " (", fig(field("low"), reward(milestones.low)), " to ", fig(field("high"), reward(milestones.high)), ")"];
  return [
    "Milestones per episode with judges ", fig(field("after"), decimal(milestones.after)), ", without ", fig(field("before"), decimal(milestones.before)), ...change,
    h("span", { class: "quiet-text" }, " n = ", fig(field("n_after"), count(milestones.n_after)), " and ", fig(field("n_before"), count(milestones.n_before)), ", up to step ", fig("headline.runs.until_step", compact(runs.until_step)), ", runs ", h("code", {}, runs.after_run), " and ", h("code", {}, runs.before_run)),
  ];
}

/** @type {import("../parts.js").Panel} */
export const headline = { id: "headline", title: "Progress", sections: ["headline"], mount: mountHeadline, draw: drawHeadline };

const SHOWN = 8;

function drawCourse(body, { curriculum }) {
  body.parentElement.hidden = !curriculum;
  if (!curriculum) return show(body);
  const rows = curriculum.segments.map((segment, index) => ({ ...segment, index }));
  const legend = h("p", { class: "sub" }, "Each cell is a subtask of a demonstration. It is filled from its end to the earliest start from which the policy reaches the end; green means mastered.");
  show(body, figures(curriculum), ...strips(rows), legend, open(rows.filter(({ frontier }) => frontier > 0)));
}

function figures(report) {
  const figure = (name, text) => fig(`curriculum.${name}`, text(report[name]));
  return facts([
    ["Phase", h("span", { class: "reported" }, report.phase)],
    ["Subtasks mastered", h("span", {}, figure("mastered", count), h("small", {}, " of ", figure("all_segments", count))), "Mastered from the start of the subtask"],
    ["Remaining", figure("frontier_mean", percent), "Mean share of each subtask not yet mastered"],
    ["Success", figure("success_mean", percent), "Success rate of recent attempts, averaged over the attempted subtasks"],
    ["Attempts", figure("tries", count), "Episodes started from a demonstration"],
    ["End to end", h("span", {}, figure("whole_success", percent), h("small", {}, " of ", figure("whole_tries", count))), "Share of recent episodes from power-on that completed the game"],
    ["From power-on", figure("power_on_share", percent), "Target share of the frames, in episodes that start from power-on"],
    ["Demonstrations", figure("demonstrations", count)],
  ]);
}

/** One strip a demonstration; a cell is filled from its end as far as the policy masters it. */
function strips(rows) {
  const numbers = [...new Set(rows.map(({ demonstration }) => demonstration))];
  return numbers.map((number) => {
    const own = rows.filter(({ demonstration }) => demonstration === number);
    const mastered = own.filter(({ frontier }) => frontier === 0).length;
    return h("div", { class: "strip", role: "img", "aria-label": `Demonstration ${number + 1}: ${mastered} of ${own.length} subtasks mastered` },
      h("span", { class: "label reported" }, `demonstration ${number + 1}`), h("div", { class: "cells" }, ...own.map(subtaskCell)));
  });
}

function subtaskCell(subtask) {
  const fill = h("i");
  fill.style.width = `${100 * (1 - subtask.frontier)}%`;
  const state = subtask.frontier === 0 ? "mastered" : "open";
  return h("span", { class: "cell", "data-state": state, title: `${trajectory(subtask)}: ${percent(subtask.frontier)} remaining, success rate ${percent(subtask.success)}, ${count(subtask.tries)} attempts` }, fill);
}

const trajectory = ({ from_mark: from, to_mark: to }) => `${from ?? "power-on"} → ${to}`;

function open(rows) {
  if (!rows.length) return h("p", { class: "sub" }, "All subtasks are mastered.");
  const heads = ["Subtask in training", "Remaining", "Success rate", "Attempts"];
  const rest = rows.length > SHOWN ? h("p", { class: "sub reported" }, `and ${count(rows.length - SHOWN)} more`) : null;
  return h("div", { class: "open-segments" },
    table({ look: "", heads, rows: rows.slice(0, SHOWN).map(row) }).frame, rest);
}

function row(segment) {
  const field = (name) => `curriculum.segments.${segment.index}.${name}`;
  return h("tr", {},
    h("td", { class: "way reported" }, trajectory(segment)),
    cell("Remaining", ...bar01(field("frontier"), segment.frontier)),
    cell("Success rate", fig(field("success"), percent(segment.success))),
    cell("Attempts", fig(field("tries"), count(segment.tries))));
}

/** @type {import("../parts.js").Panel} */
export const course = { id: "course", title: "Curriculum from demonstrations", sections: ["curriculum"], hidden: true, draw: drawCourse };

const MAX_FINDS = 200;

function drawSearch(body, { search, run }) {
  body.parentElement.hidden = !search;
  if (!search) return show(body);
  const scrolled = body.querySelector(".scroll")?.scrollTop ?? 0;
  show(body, searchFigures(search, run), finds(search));
  body.querySelector(".scroll").scrollTop = scrolled;
}

/** Whole minutes, above an hour too: a number with one unit. */
const minutes = (seconds) => (seconds === null ? "—" : seconds < 60 ? `${Math.round(seconds)} s` : `${count(Math.floor(seconds / 60))} min`);

function searchFigures(search, run) {
  const figure = (name, text) => fig(`search.${name}`, text(search[name]));
  const rate = search.seconds ? search.frames / search.seconds : null;
  const paused = run && !["training", "starting"].includes(run.status);
  return facts([
    ["Search", h("span", {}, search.running ? (paused ? "paused " : "running ") : "finished ", h("small", {}, "after ", figure("seconds", minutes))), "Search time over all attempts"],
    ["Frames", h("span", {}, figure("frames", compact), h("small", {}, " ", fig("search.frames/search.seconds", compact(rate)), "/s")), `${count(search.frames)} emulated frames of all workers`],
    ["Level", figure("level", compact), "Highest progress score reached (used to select start states)"],
    ["Flags", h("span", {}, figure("marks", count), h("small", {}, " latest at ", figure("found_seconds", minutes))), "Distinct progress flags found, such as items and opened doors"],
    ["States kept", figure("nodes", count)],
    ["Workers", figure("workers", count)],
    ["Left", h("span", {}, figure("seconds_left", minutes), h("small", {}, search.running ? " at the latest" : "")), "Time until the search ends at the latest"],
  ]);
}

/** Every new flag and its level, newest first. */
function finds({ tree, tree_left_out: left }) {
  if (!tree.length) return h("div", { class: "scroll" }, h("p", { class: "empty" }, "No progress found yet."));
  const rows = tree.flatMap((node, index) => node.marks.map((mark) => ({ mark, node, index }))).reverse();
  const row = ({ mark, node, index }) => h("li", {},
    h("span", { class: "reported" }, mark),
    h("span", { class: "sub" }, "level ", fig(`search.tree.${index}.level`, compact(node.level)), " after ", fig(`search.tree.${index}.frames`, compact(node.frames)), " frames, ", fig(`search.tree.${index}.seconds`, minutes(node.seconds))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Findings of the search, newest first" },
    h("ol", { class: "finds" }, ...rows.slice(0, MAX_FINDS).map(row)),
    left ? h("p", { class: "sub" }, fig("search.tree_left_out", count(left)), " other findings are not listed.") : null);
}

function mountSearch(_body, app, scope) {
  /** @type {string | undefined} */
  let status;
  // A search is paused while its run is; the run's figures change every second, its status rarely.
  scope.add(app.store.watch(["run"], ({ run }) => {
    if (run?.status !== status) app.store.merge({ search: app.store.state.search });
    status = run?.status;
  }));
}

/** @type {import("../parts.js").Panel} */
export const search = { id: "search", title: "Search", sections: ["search"], hidden: true, mount: mountSearch, draw: drawSearch };
