// Two versions side by side: on today's held-out pairs, what the gate measured then, what each pays for, what changed.

import { Answer, whyNot } from "../../answer.js";
import { h, show } from "../../dom.js";
import { count, decimal, percent } from "../../format.js";
import { empty } from "../../parts.js";
import { differences } from "./differences.js";
import { MODELS, accuracy, ends, from, measured, named, shortId, whisker } from "./figures.js";

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
const SLOTS = 8;

/** @param {import("./records.js").Records} records @param {import("./chosen.js").Chosen} chosen @returns {import("../../panel.js").Panel} */
export function compare(records, chosen) {
  return {
    id: "models-compare",
    title: "Compare two versions",
    sections: [],
    draw() {},
    mount(body, app, scope) {
      const frame = /** @type {HTMLElement} */ (body.parentElement);
      const [sides, pays] = [h("div"), h("div")];
      show(body, sides, pays);
      /** @type {[number, number] | null} */
      let pair = null;
      const answer = new Answer(app, scope, (/** @type {any} */ got) => show(sides, drawSides(got, pair, records, app, () => answer.ask(), () => chosen.clear())));
      const exams = [0, 1].map(() => new Answer(app, scope, () => show(pays, pair ? drawPays(pair, exams.map(({ value }) => value)) : null)));
      const choose = () => {
        const now = chosen.pair;
        frame.hidden = now === null;
        if (String(now) === String(pair)) return;
        pair = now;
        show(sides);
        show(pays);
        if (!pair) return;
        void answer.ask(`${MODELS}/${pair[0]}/compare/${pair[1]}`);
        exams.forEach((exam, index) => void exam.ask(`${MODELS}/${/** @type {[number, number]} */ (pair)[index]}/examination`));
      };
      scope.add(chosen.watch(choose));
      scope.add(records.watch(() => pair && answer.value && show(sides, drawSides(answer, pair, records, app, () => answer.ask(), () => chosen.clear()))));
      choose();
    },
  };
}

/**
 * @param {{value: any, problem: any}} got
 * @param {[number, number] | null} pair
 * @param {import("./records.js").Records} records
 * @param {import("../../app.js").App} app
 * @param {() => void} again
 * @param {() => void} close
 */
function drawSides({ value, problem }, pair, records, app, again, close) {
  if (!pair) return null;
  if (problem) return whyNot(problem, again);
  if (!value) return empty(`Evaluating v${pair[0]} and v${pair[1]} on the current held-out pairs…`);
  const path = `${MODELS}/${pair[0]}/compare/${pair[1]}`;
  const manifests = pair.map((version) => records.manifests.get(version)?.manifest ?? null);
  return h("div", {},
    h("p", {}, "On the current labels they rank ", h("b", {}, from(path, "disagree", percent(value.disagree))), " of the held-out pairs differently; their potentials have a rank correlation of ", h("b", {}, from(path, "correlation", decimal(value.correlation))), ".",
      h("button", { type: "button", class: "quiet small", onclick: close }, "Close")),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `v${pair[0]} and v${pair[1]} side by side` },
      h("table", { class: "compare" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Measured"), ...pair.map((version) => h("th", { scope: "col" }, h("a", { href: `/models/${version}` }, named(version)))))),
        h("tbody", {},
          h("tr", {}, h("td", {}, "Held-out pairs, current labels"), ...["first", "second"].map((side, index) => h("td", { "data-label": `v${pair[index]}` }, whisker(value[`${side}_accuracy`], { bound: 0.5 }), accuracy(path, `${side}_accuracy.`, value[`${side}_accuracy`])))),
          ...THEN.map(([name, label, interval]) => row(path, /** @type {string} */ (name), /** @type {string} */ (label), Boolean(interval), value, pair))))),
    changed(manifests, pair, app));
}

/** @param {string} path @param {string} name @param {string} label @param {boolean} interval @param {any} value @param {[number, number]} pair */
function row(path, name, label, interval, value, pair) {
  return h("tr", {}, h("td", {}, label), ...["first", "second"].map((side, index) => {
    const metrics = value[`${side}_metrics`];
    const found = { value: metrics[name], low: metrics[`${name}_low`] ?? null, high: metrics[`${name}_high`] ?? null };
    return h("td", { "data-label": `v${pair[index]}` }, interval ? whisker(found, { bound: 0.5 }) : null,
      from(path, `${side}_metrics.${name}`, measured(name.includes("share") ? "accuracy" : name, found.value)),
      interval ? h("span", { class: "quiet-text" }, " (", ends(path, `${side}_metrics.${name}_`, found, percent), ")") : null);
  }));
}

/** What one was made of and the other was not. @param {any[]} manifests @param {[number, number]} pair @param {import("../../app.js").App} app */
function changed([first, second], pair, app) {
  if (!first || !second) return null;
  const rows = differences(first, second);
  if (!rows.length) return h("p", { class: "sub" }, "Same settings and same judges for both.");
  return h("details", { open: true }, h("summary", {}, "Differences between ", named(pair[0]), " and ", named(pair[1])),
    h("ul", { class: "plain reported" }, ...rows.map(({ what, before, after }) => h("li", {}, `${what}: `, shown(before, app), " → ", shown(after, app)))));
}

/** @param {string} text @param {import("../../app.js").App} app */
const shown = (text, app) => (/^[0-9a-f]{32,}$/.test(text) ? shortId(text, app) : h("code", {}, text));

/** @param {[number, number]} pair @param {any[]} exams */
function drawPays(pair, exams) {
  if (!exams[0] || !exams[1]) return null;
  const size = (/** @type {any} */ exam, /** @type {string} */ name) => exam.pay.slots.find((/** @type {any} */ slot) => slot.name === name)?.mean_absolute ?? 0;
  const names = [...new Set(exams.flatMap((exam) => exam.pay.slots.map((/** @type {any} */ slot) => slot.name)))]
    .sort((a, b) => Math.max(...exams.map((exam) => size(exam, b))) - Math.max(...exams.map((exam) => size(exam, a)))).slice(0, SLOTS);
  const most = Math.max(1e-9, ...exams.flatMap((exam) => names.map((name) => size(exam, name))));
  const bar = (/** @type {any} */ exam, /** @type {string} */ name, /** @type {number} */ version) => {
    const fill = h("i");
    fill.style.width = `${(100 * size(exam, name)) / most}%`;
    const there = exam.pay.slots.some((/** @type {any} */ slot) => slot.name === name);
    return h("td", { "data-label": `v${version}` }, h("span", { class: "bar01", "aria-hidden": "true" }, fill),
      there ? from(`${MODELS}/${version}/examination`, `pay.slots.${name}.mean_absolute`, size(exam, name).toFixed(3)) : h("span", { class: "quiet-text" }, "no reward"));
  };
  return h("div", {}, h("h3", {}, "Shaping reward by slot"), h("p", { class: "sub" }, "Mean absolute shaping reward of a segment per slot, over the latest ", from(`${MODELS}/${pair[0]}/examination`, "pay.segments", count(exams[0].pay.segments)), " labelled segments."),
    h("table", { class: "slots" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Number"), ...pair.map((version) => h("th", { scope: "col" }, named(version))))),
      h("tbody", {}, ...names.map((name) => h("tr", {}, h("td", {}, h("code", {}, name)), ...exams.map((exam, index) => bar(exam, name, pair[index])))))));
}
