// What the review shows after a vote and beside it: opinions, rationales, agreement and the log.

import { h, show } from "../dom.js";
import { ago, count, decimal, percent, reward, UNKNOWN } from "../format.js";
import { whisker } from "../panels/models/figures.js";
import { cell, empty, facts, fig, table } from "../parts.js";
import { addressOfSegment } from "../routes.js";

/**
 * @typedef {"a" | "b" | "equal" | "skip"} Choice
 * @typedef {{rater: string, says: "a" | "b" | "equal" | null, margin: number | null}} Opinion
 * @typedef {{judge_config: string | null, model_version: number | null, opinions: Opinion[]}} Verdict
 * @typedef {{number: number, kind: "vote" | "undo", actor: string, a: string, b: string, choice: Choice | null, undoes: number | null, blind: boolean, why: string, information: number | null, verdict: Verdict, created_at: string}} Line  of the log
 * @typedef {{of: "a" | "b", judge: string, model: string, vote: number, text: string}} Word
 * @typedef {{record: Line, agreed: number, asked: number, words: Word[]}} Report
 * @typedef {{rater: string, votes: number, pairs: number, agreed: number, kappa: number | null, low: number | null, high: number | null, enough: boolean}} Row  of the agreement
 */

/** @type {Record<Choice, string>} */
export const CHOICES = { a: "A is better", b: "B is better", equal: "equal", skip: "skipped" };

/** @type {Record<string, string>} */
const WHOLE = {
  panel: "all judges combined",
  "side-by-side": "side-by-side judge",
  ram: "the game's counters",
  "reward-model": "the reward model",
  people: "between people",
};

/** Why the pair was shown. @type {Record<string, string>} */
export const WHY = {
  networks: "the members of the reward model's ensemble disagree",
  judges: "the judges' votes are nearly tied",
  judges_against_model: "the reward model and the judges disagree",
  uniform: "it was sampled uniformly from all pairs to measure agreement",
  asked: "it was requested by its URL",
};

/** Whether a rater is one judge. @param {string} rater */
export const isJudge = (rater) => !Object.hasOwn(WHOLE, rater);

/** @param {string} rater @param {number | null} [version]  of the live model */
export function nameOf(rater, version = null) {
  if (rater === "reward-model" && version !== null) return `reward model v${version}`;
  return isJudge(rater) ? `${rater} judge` : WHOLE[rater];
}

/** "You agreed with 2 of 3 judges." @param {{agreed: number, asked: number}} report */
export function agreed({ agreed: same, asked }) {
  if (asked === 0) return "No judge has an opinion on this pair.";
  if (asked === 1) return same ? "You and the judge agree." : "You and the judge disagree.";
  return `You agreed with ${same === 0 ? "none" : same} of ${asked} judges.`;
}

/** An opinion in words: "A is better". @param {Opinion} opinion */
export function said({ says }) {
  return says === null ? "no opinion" : CHOICES[says];
}

/** Whether it is what the person said. @param {Opinion} opinion @param {Choice | null} choice @returns {"same" | "other" | "none"} */
export function sameAs({ says }, choice) {
  if (says === null) return "none";
  return says === choice ? "same" : "other";
}

/** A line of the log in words. @param {Line} line */
export function lineOf({ kind, choice, undoes, blind }) {
  if (kind === "undo") return `withdrew vote ${undoes}`;
  const words = CHOICES[/** @type {Choice} */ (choice)];
  return choice === "skip" ? words : `${words}${blind ? "" : ", not blind"}`;
}

/** Kappa for people: a number only when there are votes enough. @param {Row} row @param {number} enough @returns {{kappa: string, interval: string}} */
export function kappaOf({ kappa, low, high, enough: known, votes }, enough) {
  if (!known) return { kappa: UNKNOWN, interval: `too few votes (n = ${votes} of ${enough})` };
  if (kappa === null) return { kappa: UNKNOWN, interval: "all answers are the same" };
  if (low === null || high === null) return { kappa: decimal(kappa), interval: "no interval: all bootstrap samples are equal" };
  return { kappa: decimal(kappa), interval: `${decimal(low)} to ${decimal(high)}` };
}

/** @param {HTMLElement} body @param {Line[]} lines  newest first */
export function drawLog(body, lines) {
  if (lines.length === 0) return show(body, empty("No votes yet."));
  show(body, h("ol", { class: "votes" }, ...lines.map((line) => h("li", { "data-kind": line.kind },
    h("span", { class: "number" }, fig(`votes.${line.number}.number`, count(line.number))),
    h("span", { class: "reported" }, h("b", {}, line.actor), " ", lineOf(line)),
    h("a", { href: `/review?pair=${pairOf(line)}` }, "pair"),
    ago(line.created_at)))));
}

/** Id of the pair of a line. @param {Line} line */
export const pairOf = ({ a, b }) => [a, b].sort().join("--");

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

const ALIKE = "Uniformly sampled pairs";
const ALL = "All pairs (mostly disputed)";

/** @param {HTMLElement} body @param {Agreement} agreement */
export function drawAgreement(body, agreement) {
  const { raters, alike, enough_votes: enough } = agreement;
  const drawn = new Map(alike.map((row) => [row.rater, row]));
  show(body,
    facts(FACTS.map(([name, label, title]) => [label, fig(`agreement.${name}`, count(agreement[name])), title]), "three"),
    table({ look: "agreement", heads: ["Rater", ALIKE, ALL], rows: raters.map((row) => h("tr", { "data-rater": row.rater },
      h("th", { scope: "row", class: isJudge(row.rater) ? "judge" : "" }, nameOf(row.rater)),
      kappaCell("alike", ALIKE, drawn.get(row.rater), enough),
      kappaCell("raters", ALL, row, enough))) }).frame,
    h("p", { class: "sub" }, "Cohen's κ: 0 is chance, 1 is perfect agreement; in brackets the 95 % bootstrap interval over pairs. Only first, blind votes are counted, including votes withdrawn later. Lower agreement is expected on disputed pairs."));
}

/** @param {"alike" | "raters"} list @param {string} label @param {Row | undefined} row @param {number} enough */
function kappaCell(list, label, row, enough) {
  if (!row) return cell(label, UNKNOWN);
  const field = (/** @type {string} */ name) => `agreement.${list}.${row.rater}.${name}`;
  const { kappa, interval } = kappaOf(row, enough);
  const known = row.enough && row.kappa !== null;
  return cell(label,
    h("span", { class: "kappa" }, "κ ", known ? fig(field("kappa"), kappa) : h("span", {}, kappa), known ? whisker({ value: row.kappa, low: row.low, high: row.high }, { range: [-0.5, 1], bound: 0 }) : null),
    h("small", { class: "reported" }, known ? `[${interval}]` : interval),
    h("small", {}, "same answer ", fig(field("agreed"), count(row.agreed)), " of ", fig(field("votes"), count(row.votes))));
}

const SIGNS = { same: ["✓", "same as you"], other: ["✗", "different"], none: ["·", "no opinion"] };

/** @param {Report} report @param {import("./player.js").Pair} pair */
export function reveal(report, pair) {
  const { record } = report;
  const { opinions, model_version: version } = record.verdict;
  const judges = opinions.filter(({ rater }) => isJudge(rater));
  const others = opinions.filter(({ rater }) => !isJudge(rater));
  return [
    h("h3", { class: "big-said" }, ...agreedWith(report)),
    h("p", {}, "You said: ", h("b", {}, CHOICES[/** @type {Choice} */ (record.choice)]), record.blind ? null : h("span", { class: "tag plain" }, "not blind")),
    h("div", { class: "opinions" }, opinionTable("Judges", judges, report, version), opinionTable("Other raters", others, report, version)),
    h("div", { class: "two-words" }, spoken("a", report), spoken("b", report)),
    h("p", { class: "sub" }, "Selected because ", WHY[record.why] ?? record.why, ...disputed(record)),
    h("p", { class: "sub" }, "Open ", h("a", { href: addressOfSegment(pair.a) }, "segment A"), " or ", h("a", { href: addressOfSegment(pair.b) }, "segment B"), "."),
  ];
}

/** The sentence of `agreed`, with its numbers named. @param {Report} report */
function agreedWith(report) {
  if (report.asked < 2) return [agreed(report)];
  return ["You agreed with ", fig("vote.agreed", count(report.agreed)), " of ", fig("vote.asked", count(report.asked)), " judges."];
}

/** How much it was in dispute. @param {Line} record */
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
