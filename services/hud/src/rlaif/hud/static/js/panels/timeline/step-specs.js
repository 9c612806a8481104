// From the newest paid steps to their chart.

import { reward } from "../../format.js";
import { folded } from "./specs.js";

/** @typedef {import("../../charts/types.js").Point} Point */
/** @typedef {{number: number, env_step: number, reward: number, parts: Record<string, number>, paid: number | null, reward_model_version: number | null, ended: boolean}} PaidStep */
/** @typedef {{env: string | null, kept: number, reward_sum: number | null, paid_sum: number | null, steps: PaidStep[]}} PaidSteps */

const MODEL = "reward model";

/** Known and new steps merged; only the new ones if there is a gap. @param {PaidSteps | null} known @param {PaidSteps} news @returns {PaidSteps} */
export function appended(known, news) {
  const last = known?.steps.at(-1)?.number;
  const follows = known?.env === news.env && last !== undefined && news.kept > 0 && (news.steps[0]?.number ?? last + 1) === last + 1;
  if (!follows) return news;
  return { ...news, steps: [...known.steps, ...news.steps].slice(-news.kept) };
}

/** @param {PaidStep[]} steps */
export function stepChart(steps) {
  const width = steps.length > 1 ? steps[1].env_step - steps[0].env_step : 1;
  // The game's parts that paid nothing are left out; what the model paid is known or not.
  const parts = folded(steps.map(({ parts, paid }) => (paid === null ? parts : { ...parts, [MODEL]: paid })), 0);
  const at = (/** @type {number} */ index) => steps[index].env_step;
  /** @type {[number, number] | null} */
  const reach = steps.length ? [at(0) - width / 2, at(steps.length - 1) + width / 2] : null;
  return {
    reach, format: reward, bars: width,
    note: "Game reward components and the shaping reward of the live model. Any unexplained remainder is red.",
    none: "No frame yet.",
    series: parts.map(({ name, amounts }, index) => ({ name, style: index + 1, format: reward, points: amounts.map((amount, each) => /** @type {Point} */ ([at(each), name === MODEL ? steps[each].paid : amount])) })),
    stacked: { total: steps.map(({ env_step, reward: game, paid }) => /** @type {Point} */ ([env_step, game + (paid ?? 0)])) },
    marks: steps.filter(({ ended }) => ended).map(({ env_step }) => ({ step: env_step, label: "end", kind: "end" })),
  };
}
