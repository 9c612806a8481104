// Two versions side by side: current held-out pairs, the gate's measurements, and what differs in their records.

import { Answer } from "../../answer.js";
import { h, show } from "../../dom.js";
import { decimal, percent } from "../../format.js";
import { cell, from, table } from "../../parts.js";
import { accuracy, ends, measured, MODELS, named, shortId, whisker } from "./figures.js";

const SIDES = ["first", "second"];
const THEN = [
  ["heldout_accuracy", "Held-out pairs, at training time", true],
  ["crossfit_accuracy", "Cross-fit by episode", true],
  ["forward_accuracy", "Newest episodes, trained on older ones", true],
  ["ram_accuracy", "Pairs decided by the game's memory", false],
  ["best_slot_accuracy", "Best single slot, same pairs", false],
  ["ridge_accuracy", "Linear fit, same pairs", false],
  ["heldout_ece", "Calibration error", false],
  ["llm_only_share", "Pairs decided by judges only", false],
];

/** @param {number} version @param {Answer} record  of the version @returns {import("../../panel.js").Panel} */
export const compare = (version, record) => ({
  id: "models-compare",
  title: "Compared with the live version",
  mount(body, app, scope) {
    const [report, other] = [new Answer(app, scope), new Answer(app, scope)];
    /** @type {number | null} */
    let live = null;
    const draw = () => {
      /** @type {HTMLElement} */ (body.parentElement).hidden = live === null || report.problem?.status === 404;
      show(body, live && report.content((value) => sidesOf(value, [version, /** @type {number} */ (live)], [record.value, other.value]), "Evaluating both versions on the current held-out pairs…"));
    };
    for (const each of [record, report, other]) each.watch(draw);
    scope.add(app.store.watch(["reward_models"], ({ reward_models: { champion } }) => {
      const now = champion && champion.version !== version ? champion.version : null;
      if (now === live) return;
      live = now;
      if (live === null) return draw();
      void report.ask(`${MODELS}/${version}/compare/${live}`);
      void other.ask(`${MODELS}/${live}`);
    }));
  },
});

/** @param {any} value @param {[number, number]} pair @param {any[]} manifests */
function sidesOf(value, pair, manifests) {
  const path = `${MODELS}/${pair[0]}/compare/${pair[1]}`;
  return h("div", {},
    h("p", {}, "On the current labels they rank ", h("b", {}, from(path, "disagree", percent(value.disagree))), " of the held-out pairs differently; their potentials have a rank correlation of ", h("b", {}, from(path, "correlation", decimal(value.correlation))), "."),
    table({
      name: `v${pair[0]} and v${pair[1]} side by side`, look: "compare", heads: ["Measured", ...pair.map((version) => `v${version}`)],
      rows: [
        h("tr", {}, h("td", {}, "Held-out pairs, current labels"), ...SIDES.map((side, index) => cell(`v${pair[index]}`, whisker(value[`${side}_accuracy`], { bound: 0.5 }), accuracy(path, `${side}_accuracy.`, value[`${side}_accuracy`])))),
        ...THEN.map(([name, label, interval]) => row(path, /** @type {string} */ (name), /** @type {string} */ (label), Boolean(interval), value, pair)),
      ],
    }).frame,
    changed(manifests, pair));
}

/** @param {string} path @param {string} name @param {string} label @param {boolean} interval @param {any} value @param {[number, number]} pair */
function row(path, name, label, interval, value, pair) {
  return h("tr", {}, h("td", {}, label), ...SIDES.map((side, index) => {
    const metrics = value[`${side}_metrics`];
    const found = { value: metrics[name], low: metrics[`${name}_low`] ?? null, high: metrics[`${name}_high`] ?? null };
    return cell(`v${pair[index]}`, interval ? whisker(found, { bound: 0.5 }) : null,
      from(path, `${side}_metrics.${name}`, measured(name.includes("share") ? "accuracy" : name, found.value)),
      interval ? h("span", { class: "quiet-text" }, " (", ends(path, `${side}_metrics.${name}_`, found, percent), ")") : null);
  }));
}

/** What differs in the records. @param {any[]} manifests @param {[number, number]} pair */
function changed([first, second], pair) {
  if (!first || !second) return null;
  const rows = differences(first, second);
  if (!rows.length) return h("p", { class: "sub" }, "Same settings and same judges for both.");
  return h("details", { open: true }, h("summary", {}, "Differences between ", named(pair[0]), " and ", named(pair[1])),
    h("ul", { class: "plain reported" }, ...rows.map(({ what, before, after }) => h("li", {}, `${what}: `, shown(before), " → ", shown(after)))));
}

/** @param {string} text */
const shown = (text) => (/^[0-9a-f]{32,}$/.test(text) ? shortId(text) : h("code", {}, text));

/** @typedef {{what: string, before: string, after: string}} Change */

/** @param {any} value @param {string} prefix @returns {[string, string][]} leaves as [path, text] */
function leaves(value, prefix) {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, inside]) => leaves(inside, prefix ? `${prefix}.${name}` : name));
  }
  return [[prefix, JSON.stringify(value)]];
}

/** Settings in a record; none in those of other versions. @param {string | undefined} text @returns {Map<string, string>} */
export function settingsOf(text) {
  try {
    return new Map(leaves(JSON.parse(text || "{}"), ""));
  } catch {
    return new Map();
  }
}

/** @param {any} first @param {any} second  manifests @returns {Change[]} */
export function differences(first, second) {
  const unknown = "—";
  const plain = [
    ["judge configuration", first.judge_config, second.judge_config],
    ["observation layout", first.spec.layout_version, second.spec.layout_version],
    ["judge models", list(first.lineage?.models), list(second.lineage?.models)],
    ["judge prompts", list(first.lineage?.rubrics), list(second.lineage?.rubrics)],
  ];
  const [before, after] = [settingsOf(first.lineage?.settings), settingsOf(second.lineage?.settings)];
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return [...plain, ...names.map((name) => [`setting ${name}`, before.get(name) ?? unknown, after.get(name) ?? unknown])]
    .filter(([, one, other]) => one !== other)
    .map(([what, one, other]) => ({ what: String(what), before: String(one ?? unknown), after: String(other ?? unknown) }));
}

/** @param {string[] | undefined} values */
const list = (values) => (values ? values.join(", ") || "none" : undefined);
