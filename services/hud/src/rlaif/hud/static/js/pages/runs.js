// Runs: list, curves over each other, settings that differ, and the command that repeats one.

import { Answer, whyNot } from "../api.js";
import { confirmChange } from "../change.js";
import { Cursor } from "../charts/axis.js";
import { timeChart } from "../charts/chart.js";
import { h, show } from "../dom.js";
import { ago, compact, count, decimal, reward } from "../format.js";
import { chartsOf, NOTHING } from "../panels/timeline/specs.js";
import { cell, empty, from, listed, mountPanels, table } from "../parts.js";
import { copy } from "../segments/found.js";

/** @typedef {import("../app.js").App} App */

const PATH = "/api/v1/runs";
const EVERY = 15_000; // ms
const MOST = 6; // runs in a chart: as many as there are styles
const HEADS = ["Run", "State", "Game", "Seed", "Started", "Steps", "Milestones per episode", "Settings that differ"];

/** The runs that the address compares; by default the two newest. @param {any[]} runs */
const chosen = (runs) => comparedIn(new URLSearchParams(location.search), runs);

/** @param {URLSearchParams} query @param {any[]} runs @returns {string[]} */
export function comparedIn(query, runs) {
  const asked = new Set(query.get("compare")?.split(",") ?? runs.slice(0, 2).map(({ run_id: id }) => id));
  return [...asked].filter((id) => runs.some(({ run_id: known }) => known === id)).slice(-MOST);
}

/** Runs of the same name get their ids into it: curves and columns are told apart by it. @param {any[]} runs */
export const distinct = (runs) => runs.map((run) => (run.name && runs.some((other) => other !== run && other.name === run.name) ? { ...run, name: `${run.name} (${run.run_id})` } : run));

/** @param {(runs: any[]) => void} changed @returns {import("../parts.js").Panel} */
function list(changed) {
  return {
    id: "runs", title: "Runs", sections: ["run"],
    mount(body, app, scope) {
      let drawn = "";
      new Answer(app, scope, { path: PATH, every: EVERY }).watch((got) => {
        const now = app.store.state.run;
        const key = JSON.stringify([got.value, now?.run_id, now?.status]);
        if (got.value && key === drawn) return; // what has the focus keeps it
        drawn = key;
        show(body, got.content((runs) => h("div", {}, empty(unlisted(runs, now)), runs.length > 0 && table({ look: "runs-table", heads: HEADS, name: "Runs", region: "wide", rows: runs.map((/** @type {any} */ run, /** @type {number} */ index) => row(app, run, index, runs, changed, () => void got.ask())) }).frame)));
        if (got.value) changed(got.value);
      });
    },
  };
}

/** Why a run that one looks for is not in the list. @param {any[]} runs @param {any} now */
export function unlisted(runs, now) {
  if (now && !runs.some(({ run_id: id }) => id === now.run_id)) return `Run ${now.run_id} is ${now.status}; it is listed, with its settings, once its emulators run.`;
  return runs.length ? "" : "No run has started yet: make demo";
}

/** @param {App} app @param {any} run @param {number} index @param {any[]} runs @param {(runs: any[]) => void} changed @param {() => void} described */
function row(app, run, index, runs, changed, described) {
  const figure = (/** @type {string} */ name, /** @type {string} */ text) => from(PATH, `${index}.${name}`, text);
  const box = h("input", { type: "checkbox", "aria-label": `Compare ${run.run_id}`, checked: chosen(runs).includes(run.run_id), onchange: () => {
    const others = chosen(runs).filter((id) => id !== run.run_id);
    app.setQuery({ compare: [...others, ...(box.checked ? [run.run_id] : [])].slice(-MOST).join(",") || "none" });
    changed(runs);
  } });
  const now = app.store.state.run;
  return h("tr", {},
    h("th", { scope: "row" }, box, h("a", { href: `/?run=${run.run_id}` }, run.name ?? run.run_id), run.name ? h("small", {}, h("code", {}, run.run_id)) : null, run.tags.length ? h("small", { class: "reported" }, ...listed(run.tags)) : null, run.note ? h("small", { class: "reported" }, run.note) : null,
      h("button", { type: "button", class: "copy", "aria-label": `Name, note and tags of ${run.run_id}`, onclick: () => describe(app, run, described) }, "edit")),
    cell("State", ...(now?.run_id === run.run_id ? [now.status] : run.last_at ? ["last report ", ago(run.last_at)] : ["not running"])),
    cell("Game", h("code", {}, run.game ?? "—")), cell("Seed", figure("seed", count(run.seed).replaceAll(",", ""))),
    cell("Started", run.started_at ? ago(run.started_at) : "—"), cell("Steps", figure("env_step", compact(run.env_step))), cell("Milestones per episode", figure("milestones", decimal(run.milestones))),
    cell("Settings that differ", run.settings ? h("span", { class: "reported" }, ...listed(Object.entries(run.settings).map(([name, value]) => h("code", {}, `${name}=${value}`)))) : "not reported"));
}

/** Let a person change name, note and tags. @param {App} app @param {any} run @param {() => void} described */
function describe(app, { run_id: id, name, note, tags }, described) {
  const called = h("input", { type: "text", value: name ?? "", maxlength: 80, autocomplete: "off" });
  const noted = h("textarea", { maxlength: 2000, rows: 4 }, note ?? "");
  const tagged = h("input", { type: "text", value: tags.join(" "), autocomplete: "off" });
  const put = () => app.api.write("PUT", `${PATH}/${id}/description`, { name: called.value.trim() || null, note: noted.value.trim() || null, tags: tagged.value.split(/\s+/).filter(Boolean) });
  confirmChange(app, {
    title: `Describe ${id}`, text: "The trainer keeps them in the folder of the run.", verb: "Save", purpose: "describe a run", fields: [["Name", called], ["Note", noted], ["Tags, separated by spaces", tagged]].map(([label, input]) => h("p", {}, h("label", {}, label, input))),
    run: async () => {
      await put();
      described();
    },
    done: `Described ${name ?? id}`,
  });
}

/** Curves of the chosen runs in one chart, and their settings side by side. */
class Comparison {
  /** @type {Map<string, any>} */
  #past = new Map();
  /** @type {any[]} */
  #origins = [];
  /** @type {any[]} */
  #differences = [];
  #figure = "milestones";
  #visit = 0;

  /** @param {HTMLElement} body @param {App} app @param {import("../dom.js").Scope} scope */
  constructor(body, app, scope) {
    this.app = app;
    const figures = chartsOf(NOTHING, null).filter(({ id }) => !["scores", "pay"].includes(id));
    const select = h("select", { "aria-label": "Figure", onchange: () => ((this.#figure = select.value), this.#draw()) }, ...figures.map(({ id, name }) => h("option", { value: id }, name)));
    const root = h("div", {});
    this.rest = h("div", {});
    show(body, h("label", { class: "choose" }, "Figure ", select), root, this.rest);
    this.chart = timeChart(root, { name: "Runs over their steps", series: [], format: decimal, cursor: new Cursor(), none: "Choose runs in the list.", height: 240 });
    scope.add(() => this.chart.destroy());
  }

  /** @param {any[]} runs */
  async ask(runs) {
    const ids = chosen(runs);
    const visit = ++this.#visit;
    const base = ids.at(-1);
    const found = await Promise.all(ids.map((id) => Promise.all([this.app.api.get(`/api/v1/history?run=${id}`), this.app.api.get(`${PATH}/${id}`), id === base ? null : this.app.api.get(`${PATH}/${id}/comparison?before=${base}`)]))).catch((error) => {
      show(this.rest, whyNot(error, () => void this.ask(runs)));
    });
    if (!found || visit !== this.#visit) return; // meanwhile other runs were chosen
    this.#origins = distinct(found.map(([, run]) => run));
    this.#past = new Map(ids.map((id, index) => [this.#origins[index].name ?? id, found[index][0]]));
    this.#differences = found.map(([, , difference]) => difference).filter(Boolean);
    this.#draw();
  }

  #draw() {
    const specs = [...this.#past].map(([name, past]) => ({ name, spec: /** @type {any} */ (chartsOf(past, null).find(({ id }) => id === this.#figure)) }));
    const series = specs.map(({ name, spec }, index) => ({ ...spec.series[0], name, style: index + 1, field: undefined, band: undefined }));
    this.chart.update({ series, none: specs[0]?.spec.none ?? "Choose runs in the list.", ...(specs[0] && { note: specs[0].spec.note, format: specs[0].spec.format, zero: specs[0].spec.zero }) });
    show(this.rest, differences(this.#origins, this.#differences), files(this.#origins), settings(this.#origins), ...this.#origins.filter(({ provenance }) => provenance).map(repeat));
  }
}

/** Milestones of the runs and of the last one, over the same steps. @param {any[]} runs @param {any[]} found */
export function differences(runs, found) {
  const of = (/** @type {string} */ id) => runs.find(({ run_id: known }) => known === id);
  const called = (/** @type {string} */ id) => of(id)?.name ?? id;
  const isOther = (/** @type {string} */ id) => new Set([id, found[0].before_run].map((each) => of(each)?.game).filter(Boolean)).size > 1;
  const change = (/** @type {string} */ id, /** @type {any} */ { change, low, high }) => (isOther(id) ? "another game" : change === null ? "too few episodes" : `${reward(change)} (${reward(low)} to ${reward(high)})`);
  return found.length > 0 && h("div", {}, table({ look: "differences", name: "Milestones per episode over the same steps", heads: ["Run", "Milestones per episode", `Those of ${called(found[0].before_run)}`, "Difference", "Steps"],
    rows: found.map(({ after_run: id, until_step: until, milestones: all }) => h("tr", {}, h("th", { scope: "row" }, called(id)), cell("Milestones per episode", `${decimal(all.after)} (n = ${count(all.n_after)})`), cell(`Those of ${called(found[0].before_run)}`, `${decimal(all.before)} (n = ${count(all.n_before)})`), cell("Difference", change(id, all)), cell("Steps", `${compact((3 * until) / 4)} to ${compact(until)}`))) }).frame,
  h("p", { class: "quiet-text" }, "With 95 % intervals over the episodes of these runs; another seed may differ."));
}

/** Where the curves are for other tools. @param {any[]} runs */
const files = (runs) => runs.length > 0 && h("p", { class: "quiet-text" }, "All figures as CSV: ",
  ...listed(runs.map(({ run_id: id, name }) => h("a", { href: `/api/v1/history.csv?run=${id}`, download: `${id}.csv` }, name ?? id))), "; for TensorBoard, in the trainer's data directory: ", h("code", {}, "tensorboard --logdir runs"));

/** The settings that differ, of the runs that reported theirs. @param {any[]} all */
export function settings(all) {
  const runs = all.filter(({ provenance }) => provenance);
  const values = runs.map(({ provenance }) => provenance.settings);
  const names = [...new Set(values.flatMap(Object.keys))].filter((name) => new Set(values.map((each) => each[name])).size > 1).sort();
  const missing = all.filter(({ provenance }) => !provenance).map(({ run_id: id, name }) => `${name ?? id} has not reported its settings.`);
  if (!names.length) return empty([...(runs.length > 1 ? ["The settings of these runs are the same."] : []), ...missing].join(" "));
  return h("div", {}, empty(missing.join(" ")), table({ look: "compare", name: "Settings that differ", heads: ["Setting", ...runs.map(({ run_id: id, name }) => name ?? id)], rows: names.map((name) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, name)), ...values.map((each, index) => cell(runs[index].name ?? runs[index].run_id, h("code", {}, each[name] ?? "—"))))) }).frame);
}

/** All settings of a run, and how to repeat it. @param {any} run */
export function repeat({ run_id: id, name, judged, provenance: { command, commit, host, packages, settings } }) {
  const button = h("button", { type: "button", class: "copy", "aria-label": `Copy the command that repeats ${id}`, onclick: () => copy(command, button) }, "copy");
  return h("details", {}, h("summary", {}, `Settings of ${name ?? id}, and how to repeat it`),
    h("p", {}, h("code", { class: "reported" }, command), " ", button),
    judged && h("p", { class: "quiet-text" }, "Without the judges. With them: the same settings and a new ", h("code", {}, "TRAINER_RUN_ID"), " before ", h("code", {}, "make demo"), "."),
    h("p", { class: "quiet-text reported" }, `Commit ${commit ?? "unknown"}; ${host}; ${Object.entries(packages).map((each) => each.join(" ")).join(", ")}.`),
    table({ look: "all-settings", name: `Settings of ${name ?? id}`, heads: ["Setting", "Value"], rows: Object.entries(settings).map(([setting, value]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, setting)), cell("Value", h("code", {}, value || "—")))) }).frame);
}

/** @type {import("../router.js").Page} */
export const page = {
  title: "Runs",
  mount(root, app, _params, scope) {
    /** @type {Comparison} */
    let comparison;
    const compared = { id: "runs-compared", title: "Compared", mount: (/** @type {HTMLElement} */ body, /** @type {App} */ app, /** @type {import("../dom.js").Scope} */ scope) => void (comparison = new Comparison(body, app, scope)) };
    scope.add(mountPanels(root, app, [list((runs) => void comparison.ask(runs)), compared]));
  },
};
