// What comes to light after a vote: who says the same, and the judges' words.

import { h } from "../dom.js";
import { fig } from "../parts.js";
import { count, percent, reward, UNKNOWN } from "../format.js";
import { CHOICES, isJudge, nameOf, said, sameAs, WHY } from "./words.js";

/** @typedef {import("./words.js").Report} Report */
/** @typedef {import("./words.js").Opinion} Opinion */

const SIGNS = { same: ["✓", "same as you"], other: ["✗", "different"], none: ["·", "no opinion"] };

/** @param {Report} report @param {{address: (side: "a" | "b") => string}} links */
export function reveal(report, links) {
  const { record } = report;
  const { opinions, model_version: version } = record.verdict;
  const judges = opinions.filter(({ rater }) => isJudge(rater));
  const others = opinions.filter(({ rater }) => !isJudge(rater));
  return [
    h("h3", { class: "big-said" }, ...agreedWith(report)),
    h("p", {}, "You said: ", h("b", {}, CHOICES[/** @type {import("./words.js").Choice} */ (record.choice)]), record.blind ? null : h("span", { class: "tag plain" }, "not blind")),
    h("div", { class: "opinions" }, opinionTable("Judges", judges, report, version), opinionTable("Other raters", others, report, version)),
    h("div", { class: "two-words" }, spoken("a", report), spoken("b", report)),
    h("p", { class: "sub" }, "Selected because ", WHY[record.why] ?? record.why, ...disputed(record)),
    h("p", { class: "sub" }, "Open ", h("a", { href: links.address("a") }, "segment A"), " or ", h("a", { href: links.address("b") }, "segment B"), "."),
  ];
}

/** The sentence of `agreed`, with its numbers named. @param {Report} report */
function agreedWith({ agreed, asked }) {
  if (asked === 0) return ["No judge has an opinion on this pair."];
  return ["You agreed with ", fig("vote.agreed", count(agreed)), " of ", fig("vote.asked", count(asked)), asked === 1 ? " judge." : " judges."];
}

/** How much it was in dispute. @param {import("./words.js").Line} record */
const disputed = ({ information }) => (information ? [" (disagreement: ", fig("vote.record.information", percent(information)), ")"] : []);

/** @param {string} title @param {Opinion[]} opinions @param {Report} report @param {number | null} version */
function opinionTable(title, opinions, { record }, version) {
  if (opinions.length === 0) return h("div", {}, h("h4", {}, title), h("p", { class: "empty" }, "No opinions on this pair."));
  return h("div", {}, h("h4", {}, title), h("ul", { class: "opinion-list" }, ...opinions.map((opinion) => {
    const same = sameAs(opinion, record.choice);
    const [sign, words] = SIGNS[same];
    return h("li", { "data-same": same },
      h("span", { class: "sign", title: words, "aria-label": words, role: "img" }, sign),
      h("span", {}, nameOf(opinion.rater, version)),
      h("b", {}, said(opinion)),
      h("span", { class: "how-much" }, opinion.margin === null ? UNKNOWN : fig(`vote.record.verdict.opinions.${opinion.rater}.margin`, reward(opinion.margin), meaning(opinion))));
  })));
}

/** What the number says. @param {Opinion} opinion */
const meaning = ({ rater }) => (rater === "reward-model" ? "2 P(A is better) − 1" : "value of A minus value of B");

/** @param {"a" | "b"} side @param {Report} report */
function spoken(side, { words }) {
  const mine = words.filter(({ of }) => of === side);
  return h("div", { class: "words" }, h("h4", {}, `Rationales for ${side.toUpperCase()}`),
    ...(mine.length ? mine.map(({ judge, model, vote, text }) => h("figure", {}, h("blockquote", {}, text), h("figcaption", {}, `${judge} · ${model} · vote ${vote}`))) : [h("p", { class: "empty" }, "None stored.")]));
}
