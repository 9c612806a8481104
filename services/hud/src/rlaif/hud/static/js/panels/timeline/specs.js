// From the history of a run, its scores and its newest steps to charts over environment steps.

import { reach } from "../../charts/scale.js";
import { count, decimal, percent, reward, significant, tenth } from "../../format.js";

/** @typedef {import("../../charts/axis.js").Point} Point */

/** @typedef {Record<string, any>} Piece  a point of `/api/v1/history` */
/** @typedef {{env_step: number, player: string, milestones: number, low: number, high: number}} Evaluation */
/** @typedef {{points: Piece[], loads: {step: number, version: number | null}[], starts?: {at: string}[], evaluations?: Evaluation[], control?: Evaluation[]}} Past History of a run, as `/api/v1/history` returns it. */
/** @typedef {"milestones_mean" | "rooms_mean" | "deaths_mean" | "returns_mean" | "entropy" | "policy_lag" | "steps_per_second"} Figure */

/** @typedef {{means: [number, number][], window: number, scored: number, points: {env_step: number, weighted: number, episode_id: string, segment_id: string}[]}} Scores */

/** @typedef {Omit<import("../../charts/chart.js").Spec, "cursor"> & {id: string}} ChartSpec */

const EPISODES = 100; // as the trainer's own means
const MOST_PARTS = 6; // with the rest as one more: as many as there are styles
export const REST = "other components";
const MODEL = "reward model";
const NAMES = /** @type {Record<string, string>} */ ({ shaping: MODEL });

/** @param {Past} past @param {Scores | null} scores @returns {ChartSpec[]} */
export function chartsOf(past, scores) {
  return [
    episodes(past, "milestones", "Milestones per episode", "Steps of the main quest reached in an episode from the game's start, by RAM; search and curriculum do not count.", decimal),
    evaluations(past),
    judgeScore(scores),
    { ...episodes(past, "returns", "Return per episode", "Sum of game rewards.", reward, "episode_return"), zero: false },
    episodes(past, "rooms", "Rooms per episode", "Distinct rooms.", tenth),
    { ...episodes(past, "deaths", "Episodes ended by death", "Share of episodes.", percent), none: deathless(past) },
    pay(past),
    iterations(past, "entropy", "Policy entropy", "High: exploratory. Low: nearly deterministic.", decimal),
    iterations(past, "policy_lag", "Policy lag", "Updates between the policy that sampled and the policy being trained.", tenth),
    iterations(past, "steps_per_second", "Throughput", "Decisions per second.", count),
    learner(past, "mean_kl_loss", "KL divergence", "Estimated, of the updated policy from the sampling policy. High values: unstable updates.", significant),
    learner(past, "clip_fraction", "Clip fraction", "Share of samples with a clipped probability ratio.", decimal),
    learner(past, "vf_loss", "Value loss", "Error of the critic.", significant),
    learner(past, "vf_explained_var", "Explained variance", "Share of the variance of the returns that the critic predicts. Negative: worse than their mean.", decimal),
    learner(past, "gradients_default_optimizer_global_norm", "Gradient norm", "Before clipping.", significant),
    learner(past, "policy_loss", "Policy loss", "Clipped objective of PPO; its trend means little.", significant),
  ];
}

/**
 * A figure of episodes: their mean at each point, and over so many episodes that it says something.
 * @param {Past} past @param {string} id @param {string} name @param {string} note @param {(value: number | null) => string} format @param {string} [ends] Name of its lowest and highest values.
 * @returns {ChartSpec}
 */
function episodes({ points }, id, name, note, format, ends = id) {
  const figure = /** @type {Figure} */ (`${id}_mean`);
  const each = curve(points, figure);
  return {
    id, name, note, format, zero: true, none: "No finished episode yet.",
    series: [
      { name: `mean of up to ${EPISODES} episodes`, style: 1, format, points: smoothed(each, points.map(({ episodes }) => episodes), EPISODES) },
      { name: "single points", style: 1, faint: true, format, points: each, band: band(points, ends), field: `history.points.-1.${figure}` },
    ],
  };
}

/** Frozen policies from the game's start, with a random policy and the run without judges beside them. @param {Past} past @returns {ChartSpec} */
function evaluations({ evaluations: own = [], control = [] }) {
  const line = (/** @type {Evaluation[]} */ from, /** @type {string} */ player) => from.filter((each) => each.player === player);
  const series = (/** @type {string} */ name, /** @type {number} */ style, /** @type {Evaluation[]} */ found) => ({
    name, style, format: decimal,
    points: found.map(({ env_step, milestones }) => /** @type {Point} */ ([env_step, milestones])),
    band: found.map(({ env_step, low, high }) => /** @type {[number, number, number]} */ ([env_step, low, high])),
  });
  const trained = line(own, "trained");
  const chance = line(own, "random").flatMap((each) => [each, ...trained.slice(-1).map(({ env_step }) => ({ ...each, env_step }))]);
  /** @type {[string, number, Evaluation[]][]} */
  const others = [["random policy", 3, chance], ["without judges", 2, line(control, "trained")]];
  return {
    id: "evaluations", name: "Evaluation: milestones per episode", format: decimal, zero: true,
    none: "The first evaluation follows at the end of an epoch (TRAINER_MODE=pipeline, EPOCH_STEPS).",
    note: "Frozen policy from the game's start: interquartile mean of the episodes and its confidence interval.",
    series: [series("frozen policy", 1, trained), ...others.filter(([, , found]) => found.length).map((other) => series(...other))],
  };
}

/** @param {Past} past */
const deathless = ({ points }) => (points.some((point) => point.episodes) ? "Deaths do not end episodes in this run. The map counts them by room." : "No finished episode yet.");

/** A figure of iterations. @param {Past} past @param {Figure} id @param {string} name @param {string} note @param {(value: number | null) => string} format @returns {ChartSpec} */
function iterations({ points }, id, name, note, format) {
  const line = { name: "mean", style: 1, format, points: curve(points, id), band: band(points, id), field: `history.points.-1.${id}` };
  return { id, name, note, format, zero: true, none: "No iteration yet.", series: [line] };
}

/** A figure of PPO's last minibatch, as RLlib reports it. @param {Past} past @param {string} id @param {string} name @param {string} note @param {(value: number | null) => string} format @returns {ChartSpec} */
function learner({ points }, id, name, note, format) {
  const line = { name: "mean", style: 1, format, points: points.map(({ env_step, learner }) => /** @type {Point} */ ([env_step, learner?.[id] ?? null])), field: `history.points.-1.learner.${id}` };
  return { id, name, note, format, none: points.length ? "The trainer has not reported it." : "No iteration yet.", series: [line] };
}

/** @param {Piece[]} pieces @param {Figure} figure */
const curve = (pieces, figure) => pieces.map((piece) => /** @type {Point} */ ([piece.env_step, piece[figure]]));

/** @param {Piece[]} pieces @param {string} name @returns {[number, number, number][]} */
const band = (pieces, name) => pieces.filter(({ low }) => low[name] !== undefined).map(({ env_step, low, high }) => [env_step, low[name], high[name]]);

/** The mean of each point and the ones before it, until it is of `window` episodes; weighted by them. @param {Point[]} points @param {number[]} weights @param {number} window @returns {Point[]} */
export function smoothed(points, weights, window) {
  /** @type {Point[]} */
  const found = [];
  let [from, sum, weight] = [0, 0, 0];
  points.forEach(([step, value], index) => {
    if (value === null || !weights[index]) return;
    sum += value * weights[index];
    weight += weights[index];
    while (weight - weightAt(from) >= window) {
      sum -= (points[from][1] ?? 0) * weightAt(from);
      weight -= weightAt(from);
      from += 1;
    }
    found.push([step, sum / weight]);
  });
  return found;

  function weightAt(index) {
    return points[index][1] === null ? 0 : weights[index];
  }
}

/** @param {Scores | null} scores @returns {ChartSpec} */
function judgeScore(scores) {
  const points = (scores?.points ?? []).map((point) => /** @type {Point} */ ([point.env_step, point.weighted, `${point.episode_id}/${point.segment_id}`]));
  const some = scores && scores.scored > points.length ? " Dense regions show only the lowest and highest scores." : "";
  return {
    id: "scores", name: "Judge score", bounds: [0, 1], format: decimal, none: "No scored segment yet.",
    note: `Each dot is a segment; click or press Enter to open it.${some}`,
    series: [
      { name: "segment", points, style: 2, shape: "dots", format: decimal, field: "score_points.points.-1.weighted" },
      { name: `mean of ${count(scores?.window ?? null)}`, points: scores?.means ?? [], style: 1, format: decimal, field: "score_points.means.-1.1" },
    ],
  };
}

/** @param {Past} past @returns {ChartSpec} */
function pay({ points }) {
  const parts = folded(points.map(({ paid }) => paid), null);
  const series = parts.map(({ name, amounts }, index) => ({
    name: NAMES[name] ?? name, style: index + 1, format: reward,
    field: name === REST ? undefined : `history.points.-1.paid.${name}`,
    points: amounts.map((amount, at) => /** @type {Point} */ ([points[at].env_step, amount])),
  }));
  const measured = points.some(({ learned_from }) => learned_from !== null);
  return {
    id: "pay", name: "Reward by component", format: reward, none: "No iteration yet.",
    note: "Per interval between points. Unexplained: planner steps, and discounting within long actions.",
    series,
    stacked: {
      total: points.map(({ env_step, learned_from, paid_total }) => /** @type {Point} */ ([env_step, measured ? learned_from : paid_total])),
      field: measured ? "history.points.-1.learned_from" : "history.points.-1.paid_total",
    },
  };
}

/**
 * The largest parts, and all others as one, so that the sum stays what it was.
 * @template {number | null} T
 * @param {Record<string, number>[]} paid Part → amount, one record a point.
 * @param {T} absent Value of a component that is not reported.
 * @returns {{name: string, amounts: (number | T)[]}[]}
 */
export function folded(paid, absent, most = MOST_PARTS) {
  const names = [...new Set(paid.flatMap((parts) => Object.keys(parts)))];
  const sizeOf = (/** @type {string} */ name) => paid.reduce((sum, parts) => sum + Math.abs(parts[name] ?? 0), 0);
  const sized = names.map((name) => ({ name, size: sizeOf(name) })).filter(({ size }) => size > 0).sort((a, b) => b.size - a.size);
  const own = sized.length <= most + 1 ? sized : sized.slice(0, most);
  const rest = sized.slice(own.length).map(({ name }) => name);
  const report = own.map(({ name }) => ({ name, amounts: paid.map((parts) => parts[name] ?? absent) }));
  return rest.length ? [...report, { name: REST, amounts: paid.map((parts) => sumOf(parts, rest) ?? absent) }] : report;
}

/** Null when none of them is reported. @param {Record<string, number>} parts @param {string[]} names */
function sumOf(parts, names) {
  const report = names.filter((name) => Object.hasOwn(parts, name));
  return report.length ? report.reduce((sum, name) => sum + parts[name], 0) : null;
}

/** Where the axis of all charts begins and ends. @param {ChartSpec[]} charts */
export const reachOf = (charts) => reach(charts.flatMap(({ series }) => series.map(({ points }) => points)));

/** @typedef {{at: string, env_step: number | null, from_env: string, to_env: string, reason: string}} ScreenSwitch */

/** Loads of reward models, and switches of the screen because a player was silent. @param {Past} past @param {ScreenSwitch[]} [switches] @returns {import("../../charts/axis.js").Mark[]} */
export function marksOf({ loads, starts }, switches = []) {
  const begun = starts?.[0]?.at;
  const silent = switches.filter(({ reason, env_step, at }) => reason === "silent" && env_step !== null && begun && Date.parse(at) >= Date.parse(begun));
  return [
    ...loads.map(({ step, version }) => (version === null ? { step, label: "none" } : { step, label: `v${version}`, href: `/models/${version}` })),
    ...silent.map(({ env_step, from_env: one, to_env: other }) => ({ step: Number(env_step), label: `${one}→${other}`, kind: "switch" })),
  ];
}

/** @type {Past} */
export const NOTHING = { points: [], loads: [] };

/** @typedef {{number: number, env_step: number, reward: number, parts: Record<string, number>, paid: number | null, reward_model_version: number | null, ended: boolean}} PaidStep */
/** @typedef {{env: string | null, kept: number, reward_sum: number | null, paid_sum: number | null, steps: PaidStep[]}} PaidSteps */

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
    note: "Game reward components and the shaping reward. Any unexplained remainder is red.",
    none: "No frame yet.",
    series: parts.map(({ name, amounts }, index) => ({ name, style: index + 1, format: reward, points: amounts.map((amount, each) => /** @type {Point} */ ([at(each), name === MODEL ? steps[each].paid : amount])) })),
    stacked: { total: steps.map(({ env_step, reward: game, paid }) => /** @type {Point} */ ([env_step, game + (paid ?? 0)])) },
    marks: steps.filter(({ ended }) => ended).map(({ env_step }) => ({ step: env_step, label: "end", kind: "end" })),
  };
}
