// The score: every criterion with its weight, who decided it, and its part; the parts sum to what is shown.

import { h } from "../../dom.js";
import { decimal, percent, UNKNOWN } from "../../format.js";
import { bar01, decided, empty, fig, questOf } from "../../parts.js";

/** @typedef {import("../../dom.js").Child} Child */

const DECIDERS = { votes: "judges' votes", computed: "computed from RAM", human: "a person" };
const CLOSE = 0.0005;

/** To 3 decimals, so that parts can be summed by eye. @param {number | null} value */
const three = (value) => (value === null ? UNKNOWN : value.toFixed(3));

/** @param {any} detail @returns {Child[]} */
export function scoreOf(detail) {
  if (!detail.rubric.length) return [empty(detail.score_problem ?? "Not scored yet.")];
  const sum = detail.weighted === null ? null : detail.rubric.reduce((/** @type {number} */ total, /** @type {any} */ { part }) => total + (part ?? 0), 0);
  return [
    h("p", { class: "verdict-head" }, h("span", { class: "big" }, fig("segment.weighted", three(detail.weighted))), h("span", { class: "scale" }, detail.weighted === null ? "no score: less than half of the weight was scored" : "of 1"), decided(detail, "segment")),
    sum !== null && Math.abs(sum - detail.weighted) > CLOSE ? h("p", { class: "notice", "data-tone": "bad", role: "alert" }, `The parts sum to ${three(sum)}, not to the score: the stored score is inconsistent.`) : null,
    questOf(detail, "segment"),
    h("table", { class: "rubric" },
      h("thead", {}, h("tr", {}, ...["Criterion", "Level", "Value", "Weight", "Part", "Decided by"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...detail.rubric.map(line)),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "Score"), h("td", {}), h("td", {}), h("td", {}), h("td", { "data-label": "Score" }, fig("segment.weighted", three(sum))), h("td", {})))),
  ];
}

/** @param {any} each */
function line(each) {
  const { criterion, weight, score, why_not: why, share, part } = each;
  const field = (/** @type {string} */ name) => `segment.rubric.${criterion}.${name}`;
  const title = share === null ? why : `${percent(share)} of the scored weight`;
  return h("tr", {},
    h("th", { scope: "row" }, criterion),
    h("td", { "data-label": "Level" }, score ? levelOf(score, field) : UNKNOWN),
    h("td", { class: "score", "data-label": "Value" }, ...bar01(field("score.value"), score?.value ?? null, { title: why, source: score && score.source !== "votes" ? score.source : null })),
    h("td", { "data-label": "Weight", title }, fig(field("weight"), decimal(weight))),
    h("td", { "data-label": "Part", title }, fig(field("part"), three(part))),
    h("td", { "data-label": "Decided by" }, ...byWhom(each)));
}

/** Votes as they were cast: "2 2 1". @param {any} score @param {(name: string) => string} field */
function levelOf({ votes, agreement, source }, field) {
  const cast = votes.map((/** @type {number} */ vote, /** @type {number} */ at) => h("span", { class: "vote", "data-level": vote, "data-figure": field(`score.votes.${at}`) }, String(vote)));
  return h("span", { title: source === "votes" ? `Agreement ${percent(agreement)}` : "Of 0, 1 and 2" }, ...cast);
}

/** @param {any} line @returns {Child[]} */
function byWhom({ criterion, decided_by: by, score, why_not: why, known_level: known, audit }) {
  if (!by) return [h("span", { class: "quiet-text" }, (why ?? "").replaceAll("_", " "))];
  const who = by === "votes" ? `${score.judge}: ${DECIDERS.votes}` : DECIDERS[/** @type {"computed" | "human"} */ (by)];
  const check = by === "votes" && known !== null ? h("small", {}, "RAM says level ", fig(`segment.rubric.${criterion}.known_level`, String(known))) : null;
  const audited = audit ? h("small", { class: "reported" }, `${audit.judge}, audit: ${audit.votes.join(", ")}`) : null;
  return [who, check, audited];
}
