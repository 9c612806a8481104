// Published versions with the gate's measurements, their differences, and rejected candidates.

import { Answer } from "../../api.js";
import { h, keyed, show } from "../../dom.js";
import { ago, compact, count, decimal, percent } from "../../format.js";
import { cell, empty, fig, from, listed, table } from "../../parts.js";
import { accuracy, ends, FITTED, fitted, LIST, measured, MODELS, named, REJECTED, shortId, whisker } from "./figures.js";
import { activate } from "./now.js";

const MAX_LOADS = 3;

/** @param {import("./figures.js").Records} records @returns {import("../../parts.js").Panel} */
export function versions(records) {
  return {
    id: "models-versions",
    title: "Versions",
    sections: ["reward_models"],
    mount(body, app) {
      const [note, none] = [h("div"), h("div")];
      const { frame, body: rows } = table({ name: "Versions of the reward model", look: "versions", heads: ["Version", ...FITTED, "Calibration error", "Loaded", { hidden: "Change" }] });
      show(body, note, frame, none);
      const draw = () => {
        const models = app.store.state.reward_models;
        if (!models) return;
        const { list, manifests } = records;
        frame.hidden = !models.published.length;
        show(none, models.published.length ? null : empty("No version published yet."), list.value?.next_cursor ? h("p", { class: "sub" }, "For older versions only the contents of their events are shown.") : null);
        show(note, list.notice(), ...(list.value?.unreadable ?? []).map(unreadable));
        const live = models.champion?.version ?? null;
        const items = models.published.map((/** @type {any} */ row) => ({ row, known: manifests.get(row.version) ?? null, live, app }));
        keyed(rows, items, ({ row }) => row.version, versionRow, fillVersion);
      };
      records.list.watch(draw);
      return draw;
    },
  };
}

/** @param {{version: number, reason: string}} row */
const unreadable = ({ version, reason }) => h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, `The record of v${version} cannot be read`), ": ", h("span", { class: "reported" }, reason));

/** @typedef {{row: any, known: {index: number, manifest: any} | null, live: number | null, app: import("../../app.js").App}} Item */

/** @param {Item} item */
function versionRow(item) {
  const element = h("tr", { "data-version": item.row.version });
  fillVersion(element, item);
  return element;
}

const drawn = new WeakMap();

/** @param {Element} element @param {Item} item */
function fillVersion(element, item) {
  const { row, known, live } = item;
  const key = JSON.stringify([row, known, live]);
  if (drawn.get(element) !== key) show(element, ...cells(item)); // else what has the focus keeps it
  drawn.set(element, key);
}

/** @param {Item} item */
function cells({ row, known, live, app }) {
  const figure = (/** @type {string} */ name, /** @type {string} */ text) => fig(`reward_models.published.${row.version}.${name}`, text);
  const record = (/** @type {string} */ field, /** @type {string} */ text) => from(LIST, `items.${known?.index}.${field}`, text);
  const manifest = known?.manifest ?? null;
  const people = manifest?.lineage ? h("span", {}, "; ", record("lineage.overrides", count(manifest.lineage.overrides)), " labels by people") : null;
  const margin = Number(settingsOf(manifest?.lineage?.settings).get("gate.simple_margin") ?? 0);
  return [
    h("td", {}, h("a", { class: "name", href: `/models/${row.version}` }, figure("version", `v${row.version}`)),
      row.champion ? h("span", { class: "tag good" }, "★ champion") : null, row.in_use ? h("span", { class: "tag purple" }, "in use") : null,
      h("small", {}, row.parent_version === null ? "first version" : h("span", {}, "after ", figure("parent_version", `v${row.parent_version}`)), " · ", ago(row.published_at))),
    ...fitted(row, {
      figure, pairs: figure("heldout_pairs", count(row.heldout_pairs)), metrics: manifest?.metrics ?? null, source: [LIST, `items.${known?.index}.metrics.`],
      more: [h("small", {}, manifest ? h("span", {}, record("preferences", count(manifest.preferences)), " pairs", people) : "—"), margin < 0 ? h("small", { class: "reported" }, `gate relaxed: ${percent(-margin)} below simple predictors allowed`) : null],
    }),
    cell("Calibration error", manifest ? record("metrics.heldout_ece", decimal(manifest.metrics.heldout_ece)) : "—"),
    cell("Loaded", ...loadsOf(row)),
    h("td", { class: "do" }, row.version === live ? null : h("button", { type: "button", class: "small", onclick: () => activate(app, row.version, live) }, "Make live…")),
  ];
}

/** "at step 4.1K, 8.2K"; of many loads the newest. @param {any} row */
export function loadsOf({ version, loaded_at_steps: steps }) {
  if (!steps.length) return [h("span", { class: "quiet-text" }, "not in this run")];
  const where = `reward_models.published.${version}.loaded_at_steps`;
  const newest = steps.map((/** @type {number} */ value, /** @type {number} */ index) => fig(`${where}.${index}`, compact(value), `step ${count(value)}`)).slice(-MAX_LOADS);
  const earlier = steps.length > MAX_LOADS ? [fig(`${where}.length`, count(steps.length)), " times, last "] : [];
  return [...earlier, "at step ", ...listed(newest)];
}

/** @param {import("./figures.js").Records} records @returns {import("../../parts.js").Panel} */
export function rejected({ rejections }) {
  return {
    id: "models-rejected",
    title: "Rejected by the gate",
    sections: ["reward_models"],
    mount(body, app) {
      const note = h("div");
      const { frame, body: rows } = table({ name: "Rejected candidates", look: "rejected-table", heads: ["Candidate", ...FITTED, "Cross-fit by episode", "Reasons"] });
      show(body, note, frame);
      const draw = () => {
        const all = app.store.state.reward_models?.rejected_count ?? null;
        const list = rejections.value?.items ?? [];
        frame.hidden = !list.length;
        show(note, rejections.notice() ?? (all === null ? empty("Unknown: the HUD is not connected to the event streams.") : list.length ? summary(all, list.length) : empty("No candidate rejected yet.")));
        keyed(rows, list, (/** @type {any} */ row) => row.candidate_id, rejectedRow);
      };
      rejections.watch(draw);
      return draw;
    },
  };
}

const summary = (all, shown) => h("p", { class: "sub" }, fig("reward_models.rejected_count", count(all)), ` rejected in total${all > shown ? "; showing the latest" : ""}. The champion was kept.`);

function rejectedRow(row) {
  const field = (/** @type {string} */ name, /** @type {string} */ text) => from(REJECTED, `items.${row.candidate_id}.${name}`, text);
  const { metrics } = row;
  const crossfit = { value: metrics?.crossfit_accuracy ?? null, low: metrics?.crossfit_accuracy_low ?? null };
  return h("tr", { "data-candidate": row.candidate_id },
    h("td", {}, shortId(row.candidate_id, 18), h("small", {}, ago(row.rejected_at))),
    ...fitted(row, { figure: field, pairs: metrics && field("metrics.heldout_pairs", count(metrics.heldout_pairs)), metrics, source: [REJECTED, `items.${row.candidate_id}.metrics.`] }),
    cell("Cross-fit by episode", metrics ? field("metrics.crossfit_accuracy", percent(crossfit.value)) : "—", metrics ? h("small", {}, ends(REJECTED, `items.${row.candidate_id}.metrics.crossfit_accuracy_`, crossfit, percent)) : null),
    h("td", { class: "why" }, h("ul", { class: "plain reported" }, ...row.reasons.map((/** @type {string} */ reason) => h("li", {}, reason)))));
}

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

/** @param {number} version @param {Answer} record  of the version @returns {import("../../parts.js").Panel} */
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
