// One version: its record and state, its gate checks, and its behaviour on the current labels.

import { h, show } from "../../../dom.js";
import { ago, compact, count, decimal, percent } from "../../../format.js";
import { bar, bothBar, cell, empty, from, listed, table } from "../../../parts.js";
import { accuracy, ends, measured, MODELS, named, ofConfidence, shortId, whisker } from "../figures.js";
import { activate, pinIt, unpinIt } from "../now.js";
import { loadsOf, settingsOf } from "../versions.js";

/** How often the version is right, by how certain it is. @param {any} report @param {string} path */
export function calibrationOf(report, path) {
  const { reliability: bins, calibration_error: error, confidence } = report;
  const summary = h("p", {}, "On the current labels: ", accuracy(path, "accuracy.", report.accuracy, { confidence }), "; calibration error ", h("b", {}, from(path, "calibration_error", decimal(error))), ".");
  if (!bins.length) return h("div", {}, summary, empty("No held-out pair is decided by the judges, so calibration cannot be measured."));
  return h("div", {}, summary, binTable(bins, path, confidence));
}

function binTable(bins, path, confidence) {
  const rows = bins.map(({ expected, right, low, high, pairs }, index) => h("tr", {},
    h("td", {}, from(path, `reliability.${index}.expected`, percent(expected))),
    h("td", {}, whisker({ value: right, low, high }, { bound: expected })),
    cell("Accuracy", from(path, `reliability.${index}.right`, percent(right)), h("small", { title: ofConfidence(confidence) }, ends(path, `reliability.${index}.`, { low, high }, percent))),
    cell("Pairs", from(path, `reliability.${index}.pairs`, count(pairs)))));
  return table({ look: "bins", heads: ["Confidence", { hidden: "Picture" }, "Accuracy", "Pairs"], rows }).frame;
}

const SHOWN = 12;
/** @type {Record<string, string>} */
const GROUPS = { player: "the player", room: "the room", items: "items", flags: "game flags", puzzle: "room puzzle", exploration: "exploration", walls: "walls", entities: "nearby entities", unknown: "other" };

const three = new Intl.NumberFormat("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay: "exceptZero" });
/** A small amount: three places, with its sign. @param {number | null} value */
export const pay = (value) => (value === null ? "—" : three.format(value).replace("-", "−"));

/** Sums by group, the largest first. @param {{group: string, mean: number, mean_absolute: number}[]} slots */
export function byGroup(slots) {
  /** @type {Map<string, {group: string, mean: number, mean_absolute: number, slots: number}>} */
  const found = new Map();
  for (const { group, mean, mean_absolute: size } of slots) {
    const sum = found.get(group) ?? { group, mean: 0, mean_absolute: 0, slots: 0 };
    found.set(group, { group, mean: sum.mean + mean, mean_absolute: sum.mean_absolute + size, slots: sum.slots + 1 });
  }
  return [...found.values()].sort((a, b) => b.mean_absolute - a.mean_absolute);
}

/** Shaping reward of labelled segments, distributed over the slots of the observation. @param {any} report @param {string} path */
export function slotsOf({ pay: data }, path) {
  if (!data.segments) return empty("No labels.");
  if (!data.slots.length) return empty("The shaping reward is zero for all labelled segments.");
  const most = Math.max(...data.slots.map((/** @type {any} */ each) => Math.abs(each.mean))) || 1;
  const total = data.slots.reduce((/** @type {number} */ sum, /** @type {any} */ slot) => sum + slot.mean_absolute, 0);
  const { frame, body } = table({ name: "Shaping reward by slot", look: "slots", region: "scroll tall", heads: ["Observation slot", "Mean", { hidden: "Picture" }, "Mean absolute", "Segments"], rows: data.slots.map((/** @type {any} */ slot, /** @type {number} */ index) => row(slot, index, most, path)) });
  return h("div", {},
    h("p", {}, "Over the latest ", from(path, "pay.segments", count(data.segments)), " labelled segments, the mean shaping reward is ", h("b", {}, from(path, "pay.mean_pay", pay(data.mean_pay))), ", and its mean absolute value ", h("b", {}, from(path, "pay.mean_absolute_pay", pay(data.mean_absolute_pay).replace("+", ""))), ". ",
      h("span", { class: "quiet-text" }, "The contributions of the slots sum to the segment's shaping reward; the numerical error is at most ", from(path, "pay.largest_rest", data.largest_rest.toFixed(6)), ".")),
    h("ul", { class: "groups", "aria-label": "By group" }, ...byGroup(data.slots).map(({ group, mean_absolute: size }) => h("li", {}, h("span", {}, GROUPS[group] ?? group), bar(size / total, { title: "Share of the total absolute contribution" })))),
    frame, moreButton([...body.children].slice(SHOWN), data.slots.length));
}

/** Shows and hides the later rows. @param {Element[]} rows @param {number} all */
function moreButton(rows, all) {
  if (!rows.length) return null;
  const button = h("button", { type: "button", class: "quiet small", onclick: () => toggle(button.getAttribute("aria-expanded") === "false") });
  const toggle = (/** @type {boolean} */ open) => {
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "Fewer" : `All ${all}`;
    for (const row of rows) /** @type {HTMLElement} */ (row).hidden = !open;
  };
  toggle(false);
  return button;
}

function row({ name, group, meaning, mean, mean_absolute: size, segments }, index, most, path) {
  const field = `pay.slots.${index}.`;
  return h("tr", { "data-slot": name },
    h("td", {}, h("code", { title: meaning }, name), h("small", {}, GROUPS[group] ?? group)),
    cell("Mean", from(path, `${field}mean`, pay(mean))),
    h("td", {}, bothBar(mean, most)),
    cell("Mean absolute", from(path, `${field}mean_absolute`, pay(size).replace("+", ""))),
    cell("Segments", from(path, `${field}segments`, count(segments))));
}

const SIGNS = { ">=": "at least", ">": "above", "<=": "at most" };
const HEADS = ["Check", "Measured", { hidden: "Picture" }, "Required", "Result"];

/** @param {any} report @param {string} path  of the report */
export function gateOf({ checks, confidence, settings_known: known }, path) {
  return h("div", {},
    h("p", { class: "sub" }, "Bootstrap intervals over episodes, each bound at ", from(path, "confidence", percent(confidence)), " one-sided confidence. The bold value is compared with the bound (dashed line).",
      known ? null : " The record does not contain its settings; the bounds are the current ones."),
    table({ name: "Gate checks", look: "gate", heads: HEADS, region: "scroll tall", rows: checks.map((/** @type {any} */ check) => checkRow(check, path, confidence)) }).frame);
}

/** The range of the picture: shares from 0 to 1, others around the bound. @param {any} check @returns {[number, number] | null} */
export function rangeOf({ name, value, low, high, bound }) {
  if (name.includes("accuracy")) return [0, 1];
  if (name.startsWith("permutation")) return null; // spans powers of ten
  const known = [value, low, high, bound, 0].filter((each) => each !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const margin = (most - least) * 0.15 || 0.1;
  return [least - margin, most + margin];
}

function checkRow(check, path, confidence) {
  const { name, what, value, low, high, count: n, of, compared, relation, bound, holds, note } = check;
  const field = `checks.${name}.`;
  const text = (/** @type {number | null} */ number) => measured(name, number);
  const range = rangeOf(check);
  const interval = low !== null || high !== null;
  const figure = value === null && interval ? null : from(path, `${field}value`, text(value));
  return h("tr", { "data-check": name, "data-holds": String(holds) },
    h("td", { class: "reported" }, what),
    cell("Measured", figure ? (compared === "value" ? h("b", {}, figure) : figure) : null,
      interval ? h(compared === "value" ? "span" : "b", { title: ofConfidence(confidence) }, figure ? " (" : "", ends(path, field, { low, high }, text), figure ? ")" : "") : null,
      n === null ? null : h("small", {}, "of ", from(path, `${field}count`, count(n)), ` ${of ?? ""}`)),
    h("td", {}, range ? whisker({ value, low, high }, { range, bound, holds }) : null),
    cell("Required", bound === null ? "nothing" : h("span", {}, `${/** @type {Record<string, string>} */ (SIGNS)[relation]} `, from(path, `${field}bound`, text(bound)))),
    cell("Result", verdict(holds, bound), note ? h("small", { class: "reported" }, note) : null));
}

/** @param {boolean | null} holds @param {number | null} bound */
function verdict(holds, bound) {
  if (holds === true) return h("span", { class: "good-text" }, "✓ holds");
  if (holds === false) return h("span", { class: "bad-text" }, "✕ fails");
  return h("span", { class: "quiet-text", title: bound === null ? null : "Not measured, too little data, or not in the record" }, "—");
}

/** @param {number} version @param {import("../../../api.js").Answer} answer  with its record @returns {import("../../../parts.js").Panel} */
export const head = (version, answer) => ({
  id: "model-head",
  title: "Reward model",
  mount(body, app, scope) {
    let drawn = "";
    const draw = () => {
      const models = app.store.state.reward_models;
      const row = models?.published.find((/** @type {any} */ each) => each.version === version);
      const key = JSON.stringify([answer.value, answer.problem?.title, models?.champion?.version, models?.champion?.pinned, row]);
      if (key === drawn) return; // what has the focus keeps it
      drawn = key;
      show(body, answer.content((manifest) => content(manifest, row, models, app), `Loading v${version}…`));
    };
    answer.watch(draw);
    scope.add(app.store.watch(["reward_models"], draw));
  },
});

/** @param {any} manifest @param {any} row  of the snapshot @param {any} models @param {import("../../../app.js").App} app */
function content(manifest, row, models, app) {
  const { version, parent_version: parent } = manifest;
  const children = (models?.published ?? []).filter((/** @type {any} */ each) => each.parent_version === version).map((/** @type {any} */ each) => each.version);
  const networks = [manifest.spec.inputs, ...manifest.spec.hidden, 1].join("–");
  return h("div", {},
    h("p", { class: "live-line" }, h("b", {}, from(`${MODELS}/${version}`, "version", `v${version}`)), " ", ...stateOf(row, models), ...buttons(version, models, app)),
    h("dl", { class: "facts wide" },
      fact("Held-out pairs, at training time", accuracyOf(version, manifest)),
      fact("Training pairs", figure(version, "metrics.train_accuracy", manifest.metrics.train_accuracy, percent)),
      fact("Trained on", figure(version, "labels", manifest.labels), " labels of ", figure(version, "episodes", manifest.episodes), " episodes, ", figure(version, "preferences", manifest.preferences), " pairs"),
      fact("Human labels and comparisons", ...byPeople(version, manifest.lineage)),
      fact("Lineage", parent === null ? "first version" : h("a", { href: `/models/${parent}` }, "from ", figure(version, "parent_version", parent, (/** @type {number} */ value) => `v${value}`)),
        ...children.flatMap((/** @type {number} */ child) => [", then ", h("a", { href: `/models/${child}` }, named(child))])),
      fact("Published", ago(manifest.created_at)),
      fact("Loaded", ...(row ? loadsOf(row) : ["—"])),
      fact("File", shortId(manifest.model_sha256)),
      fact("Networks", figure(version, "spec.members", manifest.spec.members), " of ", h("code", {}, `${networks} ${manifest.spec.activation}`))));
}

/** @param {string} term @param {...import("../../../dom.js").Child} children */
const fact = (term, ...children) => h("div", {}, h("dt", {}, term), h("dd", {}, ...children));

/** @param {number} version @param {string} name @param {any} value @param {(value: any) => string} [text] */
const figure = (version, name, value, text = count) => from(`${MODELS}/${version}`, name, text(value));

/** @param {number} version @param {any} lineage  null of an older writer */
function byPeople(version, lineage) {
  if (!lineage) return ["—"];
  const part = (/** @type {string} */ name, /** @type {string} */ text) => (typeof lineage[name] === "number" ? [h("span", {}, figure(version, `lineage.${name}`, lineage[name]), text)] : []);
  const parts = [...part("overrides", " labels"), ...part("votes", " pairs, blind"), ...part("comparisons", " pairs compared side by side by judges")];
  return listed(parts);
}

function accuracyOf(version, { metrics }) {
  const { heldout_accuracy: value, heldout_accuracy_low: low, heldout_accuracy_high: high, heldout_pairs: pairs } = metrics;
  const path = `${MODELS}/${version}`;
  return accuracy(path, "metrics.heldout_", { value, low, high, pairs }, { names: { value: "accuracy", low: "accuracy_low", high: "accuracy_high", pairs: "pairs" } });
}

function stateOf(row, models) {
  if (!row) return [h("span", { class: "quiet-text" }, "No event seen.")];
  if (row.champion) return [h("b", { class: "good-text" }, "★ live"), models.champion?.pinned ? h("span", { class: "tag warn" }, "⚲ pinned") : null, row.in_use ? h("span", { class: "tag purple" }, "in use") : null];
  return [h("span", {}, "not live"), row.in_use ? h("span", { class: "tag purple" }, "still in use by the trainer") : null];
}

function buttons(version, models, app) {
  const button = (/** @type {string} */ text, /** @type {() => void} */ run) => h("button", { type: "button", onclick: run }, text);
  const live = models?.champion?.version ?? null;
  if (live !== version) return [" ", button("Make live…", () => activate(app, version, live))];
  return [" ", models.champion.pinned ? button("Unpin…", () => unpinIt(app, version)) : button("Pin…", () => pinIt(app, version))];
}

/** What a version was trained with: judges, prompts, labels, settings. @param {any} manifest */
export function madeOf(manifest) {
  const { lineage, version } = manifest;
  const settings = [...settingsOf(lineage?.settings)];
  return h("div", {},
    h("dl", { class: "facts wide" },
      fact("Judge configuration", shortId(manifest.judge_config)),
      fact("Judge models", lineage ? lineage.models.join(", ") || "none" : "—"),
      fact("Judge prompts", ...(lineage?.rubrics.length ? lineage.rubrics.map((/** @type {string} */ digest) => shortId(digest)) : ["—"])),
      fact("Labels", shortId(manifest.label_digest), lineage ? h("span", {}, "· ", figure(version, "lineage.duplicates", lineage.duplicates), " near-duplicates merged") : null),
      fact("Newest label", lineage ? h("span", {}, "step ", figure(version, "lineage.newest_env_step", lineage.newest_env_step, compact)) : "—"),
      fact("Statistic", lineage?.statistic ?? "—"),
      fact("Seed", figure(version, "seed", manifest.seed))),
    settings.length ? h("details", {}, h("summary", {}, "Settings of training and gate"),
      h("dl", { class: "settings" }, ...settings.map(([name, text]) => h("div", {}, h("dt", {}, h("code", {}, name)), h("dd", {}, h("code", {}, text)))))) : null);
}
