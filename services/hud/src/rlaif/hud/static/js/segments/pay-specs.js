// From the steps of a segment to the charts of what they were paid. Pure.

import { decimal, reward } from "../format.js";

/** @typedef {import("../charts/types.js").Point} Point */
/** @typedef {{step: number, game: number | null, parts: Record<string, number>, model: number | null, potential: number | null}} Step */

const MODEL = "reward model";

/**
 * The charts: what each step was paid, by part, and the potential that the model's pay comes from.
 *
 * @param {{steps: Step[], first_potential: number | null}} report
 */
export function paySpecs({ steps, first_potential: first }) {
  const withModel = steps.every(({ model }) => model !== null);
  const names = [...new Set(steps.flatMap(({ parts }) => Object.keys(parts)))].sort();
  const line = (/** @type {string} */ name, /** @type {number} */ index, /** @type {(step: Step) => number | null} */ of) => ({ name, style: (index % 7) + 1, format: reward, points: steps.map((step) => /** @type {Point} */ ([step.step, of(step)])) });
  const parts = names.map((name, index) => line(name, withModel ? index + 1 : index, (step) => step.parts[name] ?? 0));
  const all = withModel ? [line(MODEL, 0, ({ model }) => model), ...parts] : parts;
  const pay = {
    name: "Reward per step", format: reward, series: all, bars: 1, zero: true, height: 150,
    note: withModel ? "Game reward components and shaping reward." : "Game reward components.",
    none: "No reward in this segment.",
    stacked: { total: steps.map(({ step, game, model }) => /** @type {Point} */ ([step, Number(game) + (withModel ? Number(model) : 0)])) },
  };
  const reach = /** @type {[number, number]} */ ([-0.5, steps.length - 0.5]);
  if (first === null) return { reach, charts: [pay] };
  const points = [/** @type {Point} */ ([-0.5, first]), ...steps.map(({ step, potential }) => /** @type {Point} */ ([step, potential]))];
  const potential = { name: "Potential of the state", note: "Increases are rewarded.", format: decimal, height: 150, series: [{ name: "potential", style: 1, format: decimal, points }], none: "No model was live." };
  return { reach, charts: [pay, potential] };
}
