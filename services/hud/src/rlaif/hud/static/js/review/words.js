// What the review says, in words: pure, so that each sentence can be tested.

import { decimal, UNKNOWN } from "../format.js";

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
  return `You agreed with ${same === 0 ? "none" : same} of ${asked} ${asked === 1 ? "judge" : "judges"}.`;
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
