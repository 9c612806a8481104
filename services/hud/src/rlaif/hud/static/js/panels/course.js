// The curriculum: each demonstration as a strip of segments, and the segments that are worked on.

import { h, show } from "../dom.js";
import { count, percent } from "../format.js";
import { bar01, facts, fig } from "../parts.js";

const SHOWN = 8;

function draw(body, { curriculum }) {
  body.parentElement.hidden = !curriculum;
  if (!curriculum) return show(body);
  const rows = curriculum.segments.map((segment, index) => ({ ...segment, index }));
  const legend = h("p", { class: "sub" }, "A cell is a segment, filled from its end as far back as the policy reaches that end; green is all of it.");
  show(body, figures(curriculum), ...strips(rows), legend, open(rows.filter(({ frontier }) => frontier > 0)));
}

function figures(told) {
  const figure = (name, text) => fig(`curriculum.${name}`, text(told[name]));
  return facts([
    ["Phase", h("span", { class: "told" }, told.phase)],
    ["Segments mastered", h("span", {}, figure("mastered", count), h("small", {}, " of ", figure("all_segments", count))), "Reached from their beginning, again and again"],
    ["Still to go", figure("frontier_mean", percent), "Mean of all segments: what lies before their frontiers"],
    ["Success", figure("success_mean", percent), "Of the last tries, mean over the segments that were tried"],
    ["Tries", figure("tries", count), "Episodes that started on a demonstration"],
    ["The whole way", h("span", {}, figure("whole_success", percent), h("small", {}, " of ", figure("whole_tries", count))), "Of the last episodes from power-on: they came to the end"],
    ["From power-on", figure("power_on_share", percent), "Share of the episodes that start at the game's beginning"],
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
      h("span", { class: "label told" }, `demonstration ${number + 1}`), h("div", { class: "cells" }, ...own.map(cell)));
  });
}

function cell(segment) {
  const fill = h("i");
  fill.style.width = `${100 * (1 - segment.frontier)}%`;
  const state = segment.frontier === 0 ? "mastered" : "open";
  return h("span", { class: "cell", "data-state": state, title: `${way(segment)}: ${percent(segment.frontier)} to go, success ${percent(segment.success)}, ${count(segment.tries)} tries` }, fill);
}

const way = ({ from_mark: from, to_mark: to }) => `${from ?? "power-on"} → ${to}`;

function open(rows) {
  if (!rows.length) return h("p", { class: "sub" }, "Every segment is mastered from its beginning.");
  const heads = ["Worked on", "To go", "Success", "Tries"].map((name) => h("th", { scope: "col" }, name));
  const rest = rows.length > SHOWN ? h("p", { class: "sub told" }, `and ${count(rows.length - SHOWN)} more`) : null;
  return h("div", { class: "open-segments" },
    h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows.slice(0, SHOWN).map(row))), rest);
}

function row(segment) {
  const field = (name) => `curriculum.segments.${segment.index}.${name}`;
  return h("tr", {},
    h("td", { class: "way told" }, way(segment)),
    h("td", { "data-label": "To go" }, ...bar01(field("frontier"), segment.frontier)),
    h("td", { "data-label": "Success" }, fig(field("success"), percent(segment.success))),
    h("td", { "data-label": "Tries" }, fig(field("tries"), count(segment.tries))));
}

/** @type {import("../panel.js").Panel} */
export const course = { id: "course", title: "Learning along demonstrations", sections: ["curriculum"], hidden: true, draw };
