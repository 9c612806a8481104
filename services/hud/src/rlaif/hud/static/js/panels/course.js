// The curriculum: each demonstration as a strip of segments, and the segments that are worked on.

import { h, show } from "../dom.js";
import { count, percent } from "../format.js";
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
