// Reward of each step below the video: game components and shaping reward, stacked, with a shared cursor.

import { createAxis } from "../../charts/axis.js";
import { timeChart } from "../../charts/chart.js";
import { h, setText } from "../../dom.js";
import { decimal, reward } from "../../format.js";
import { empty, fig } from "../../parts.js";

const LEAST = 1e-6; // what a sum of floats may differ by

/** Charts of the rewards, until the scope ends. @param {any} report @param {import("../../charts/axis.js").Cursor} cursor @param {import("../../dom.js").Scope} scope */
export function payOf(report, cursor, scope) {
  if (report.pay_problem) return empty(report.pay_problem);
  const specs = paySpecs(report);
  const here = h("p", { class: "at reported" }, " ");
  const axis = createAxis();
  axis.reach(specs.reach);
  const charts = specs.charts.map((spec) => {
    const root = h("div", {});
    const chart = timeChart(root, { ...spec, cursor, axis });
    scope.add(() => chart.destroy());
    return root;
  });
  const say = (/** @type {number | null} */ step) => setText(here, wordsOf(report.steps.find((/** @type {any} */ each) => each.step === step)));
  say(cursor.get());
  scope.add(cursor.watch(say));
  return h("div", {}, sums(report), here, h("div", { class: "charts" }, ...charts));
}

function sums({ pay }) {
  const { game, model, unexplained } = pay;
  return h("p", {}, "Game reward ", fig("steps.pay.game", reward(game)), model === null ? ". No reward model was in use." : h("span", {}, "; shaping reward by reward model ", fig("steps.pay.reward_model_version", `v${pay.reward_model_version}`), " ", fig("steps.pay.model", reward(model)), " at full weight, as if the episode started with the segment."),
    unexplained > LEAST ? h("b", { class: "bad-text" }, " Up to ", fig("steps.pay.unexplained", decimal(unexplained)), " of a step is not explained by any component.") : null);
}

/** One step in words. @param {any} step */
function wordsOf(step) {
  if (!step) return "Point at a bar or step through the video.";
  const parts = Object.entries(step.parts).map(([name, amount]) => `${name} ${reward(amount)}`);
  const model = step.model === null ? "" : `; reward model ${reward(step.model)}`;
  return `Emulator step ${step.step}, ${step.action}: game ${reward(step.game)}${parts.length ? ` (${parts.join(", ")})` : ""}${model}`;
}

/** @typedef {import("../../charts/axis.js").Point} Point */
/** @typedef {{step: number, game: number | null, parts: Record<string, number>, model: number | null, potential: number | null}} Step */

const MODEL = "reward model";

/** The charts: what each step was paid, by part, and the potential that the model's pay comes from. @param {{steps: Step[], first_potential: number | null}} report */
export function paySpecs({ steps, first_potential: first }) {
  const withModel = steps.every(({ model }) => model !== null);
  const names = [...new Set(steps.flatMap(({ parts }) => Object.keys(parts)))].sort();
  const line = (/** @type {string} */ name, /** @type {number} */ index, /** @type {(step: Step) => number | null} */ of) => ({ name, style: (index % 7) + 1, format: reward, points: steps.map((step) => /** @type {Point} */ ([step.step, of(step)])) });
  const parts = names.map((name, index) => line(name, withModel ? index + 1 : index, (step) => step.parts[name] ?? 0));
  const all = withModel ? [line(MODEL, 0, ({ model }) => model), ...parts] : parts;
  const pay = {
    name: "Reward per emulator step", format: reward, series: all, bars: 1, zero: true, height: 150,
    note: withModel ? "Game reward components and shaping reward." : "Game reward components.",
    none: "No reward in this segment.",
    stacked: { total: steps.map(({ step, game, model }) => /** @type {Point} */ ([step, Number(game) + (withModel ? Number(model) : 0)])) },
  };
  const reach = /** @type {[number, number]} */ ([-0.5, steps.length - 0.5]);
  if (first === null) return { reach, charts: [pay] };
  const points = [/** @type {Point} */ ([-0.5, first]), ...steps.map(({ step, potential }) => /** @type {Point} */ ([step, potential]))];
  const potential = { name: "Potential of the state", note: "Increases are rewarded.", format: decimal, height: 150, series: [{ name: "potential", style: 1, format: decimal, points }], none: "No model was in use." };
  return { reach, charts: [pay, potential] };
}
