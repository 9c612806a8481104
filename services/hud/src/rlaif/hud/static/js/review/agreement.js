// How far judges agree with people: kappa by judge, with n and interval, of pairs drawn alike and of all pairs.

import { h, s, show } from "../dom.js";
import { count } from "../format.js";
import { facts, fig } from "../parts.js";
import { isJudge, kappaOf, nameOf } from "./words.js";

/** @typedef {import("./words.js").Row} Row */
/** @typedef {{votes: number, blind: number, undone: number, skipped: number, people: number, teaching: number, enough_votes: number, raters: Row[], alike: Row[]}} Agreement */

/** @type {["votes" | "blind" | "teaching" | "people" | "skipped" | "undone", string, string][]} */
const FACTS = [
  ["votes", "Votes", "All votes except skips"],
  ["blind", "Blind", "First votes cast without seeing any other opinion; only these are counted below"],
  ["teaching", "Training pairs", "Current pairs whose human label is used to train the next reward model"],
  ["people", "People", "Distinct reviewer names"],
  ["skipped", "Skipped", "Pairs skipped by a reviewer"],
  ["undone", "Withdrawn", "Not used for training; blind ones are still counted below"],
];

const WIDTH = 120;
const LEAST = -0.5;

/** @param {HTMLElement} body @param {Agreement} agreement */
export function drawAgreement(body, agreement) {
  const { raters, alike, enough_votes: enough } = agreement;
  const drawn = new Map(alike.map((row) => [row.rater, row]));
  show(body,
    facts(FACTS.map(([name, label, title]) => [label, fig(`agreement.${name}`, count(agreement[name])), title]), "three"),
    h("table", { class: "agreement" },
      h("thead", {}, h("tr", {}, ...["Rater", "Uniformly sampled pairs", "All pairs (mostly disputed)"].map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, ...raters.map((row) => h("tr", { "data-rater": row.rater },
        h("th", { scope: "row", class: isJudge(row.rater) ? "judge" : "" }, nameOf(row.rater)),
        cell("alike", "Uniformly sampled pairs", drawn.get(row.rater), enough),
        cell("raters", "All pairs (mostly disputed)", row, enough))))),
    h("p", { class: "sub" }, "Cohen's κ: 0 is chance, 1 is perfect agreement; in brackets the 95 % bootstrap interval over pairs. Only first, blind votes are counted, including votes withdrawn later. Lower agreement is expected on disputed pairs."));
}

/** @param {"alike" | "raters"} list @param {string} label @param {Row | undefined} row @param {number} enough */
function cell(list, label, row, enough) {
  if (!row) return h("td", { "data-label": label }, "—");
  const field = (/** @type {string} */ name) => `agreement.${list}.${row.rater}.${name}`;
  const { kappa, interval } = kappaOf(row, enough);
  const known = row.enough && row.kappa !== null;
  return h("td", { "data-label": label },
    h("span", { class: "kappa" }, "κ ", known ? fig(field("kappa"), kappa) : h("span", {}, kappa), known ? picture(row) : null),
    h("small", { class: "reported" }, known ? `[${interval}]` : interval),
    h("small", {}, "same answer ", fig(field("agreed"), count(row.agreed)), " of ", fig(field("votes"), count(row.votes))));
}

/** The interval as a line with a dot; 0, chance, is marked. @param {Row} row */
function picture({ kappa, low, high }) {
  const x = (/** @type {number} */ value) => (WIDTH * (Math.max(LEAST, value) - LEAST)) / (1 - LEAST);
  return s("svg", { class: "interval", width: WIDTH, height: 12, viewBox: `0 0 ${WIDTH} 12`, "aria-hidden": "true" },
    s("line", { class: "axis", x1: x(0), x2: x(0), y1: 0, y2: 12 }),
    low === null || high === null ? null : s("line", { class: "range", x1: x(low), x2: x(high), y1: 6, y2: 6 }),
    s("circle", { class: "dot", cx: x(/** @type {number} */ (kappa)), cy: 6, r: 4 }));
}
