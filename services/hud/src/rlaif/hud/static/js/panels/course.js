// The search of a run and the curriculum from its demonstrations. Hidden without them.

import { h, show } from "../dom.js";
import { compact, count, percent } from "../format.js";
import { bar01, cell, facts, fig, table } from "../parts.js";

const SHOWN = 8;

function draw(body, { curriculum }) {
  body.parentElement.hidden = !curriculum;
  if (!curriculum) return show(body);
  const rows = curriculum.segments.map((segment, index) => ({ ...segment, index }));
  const legend = h("p", { class: "sub" }, "Each cell is a segment of a demonstration. It is filled from its end to the earliest start from which the policy reaches the end; green means mastered.");
  show(body, figures(curriculum), ...strips(rows), legend, open(rows.filter(({ frontier }) => frontier > 0)));
}

function figures(report) {
  const figure = (name, text) => fig(`curriculum.${name}`, text(report[name]));
  return facts([
    ["Phase", h("span", { class: "reported" }, report.phase)],
    ["Segments mastered", h("span", {}, figure("mastered", count), h("small", {}, " of ", figure("all_segments", count))), "Mastered from the start of the segment"],
    ["Remaining", figure("frontier_mean", percent), "Mean share of each segment not yet mastered"],
    ["Success", figure("success_mean", percent), "Success rate of recent attempts, averaged over the attempted segments"],
    ["Attempts", figure("tries", count), "Episodes started from a demonstration"],
    ["End to end", h("span", {}, figure("whole_success", percent), h("small", {}, " of ", figure("whole_tries", count))), "Share of recent episodes from power-on that completed the game"],
    ["From power-on", figure("power_on_share", percent), "Share of episodes that start from power-on"],
    ["Demonstrations", figure("demonstrations", count)],
  ]);
}

/** One strip a demonstration; a cell is filled from its end as far as the policy masters it. */
function strips(rows) {
  const numbers = [...new Set(rows.map(({ demonstration }) => demonstration))];
  return numbers.map((number) => {
    const own = rows.filter(({ demonstration }) => demonstration === number);
    const mastered = own.filter(({ frontier }) => frontier === 0).length;
    return h("div", { class: "strip", role: "img", "aria-label": `Demonstration ${number + 1}: ${mastered} of ${own.length} segments mastered` },
      h("span", { class: "label reported" }, `demonstration ${number + 1}`), h("div", { class: "cells" }, ...own.map(segmentCell)));
  });
}

function segmentCell(segment) {
  const fill = h("i");
  fill.style.width = `${100 * (1 - segment.frontier)}%`;
  const state = segment.frontier === 0 ? "mastered" : "open";
  return h("span", { class: "cell", "data-state": state, title: `${trajectory(segment)}: ${percent(segment.frontier)} remaining, success rate ${percent(segment.success)}, ${count(segment.tries)} attempts` }, fill);
}

const trajectory = ({ from_mark: from, to_mark: to }) => `${from ?? "power-on"} → ${to}`;

function open(rows) {
  if (!rows.length) return h("p", { class: "sub" }, "All segments are mastered.");
  const heads = ["Segment in training", "Remaining", "Success rate", "Attempts"];
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

/** @type {import("../panel.js").Panel} */
export const course = { id: "course", title: "Curriculum from demonstrations", sections: ["curriculum"], hidden: true, draw };

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

function mount(_body, app, scope) {
  /** @type {string | undefined} */
  let status;
  // A search is paused while its run is; the run's figures change every second, its status rarely.
  scope.add(app.store.watch(["run"], ({ run }) => {
    if (run?.status !== status) app.store.merge({ search: app.store.state.search });
    status = run?.status;
  }));
}

/** @type {import("../panel.js").Panel} */
export const search = { id: "search", title: "Search", sections: ["search"], hidden: true, mount, draw: drawSearch };
