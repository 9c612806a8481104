// Before and after each reward model that the trainer loaded, or each load of one version.

import { Answer, ofRun } from "../api.js";
import { h, show } from "../dom.js";
import { ago, compact, count, decimal, percent, reward, tenth } from "../format.js";
import { cell, empty, from, table } from "../parts.js";

/** @typedef {{before: number | null, after: number | null, n_before: number, n_after: number, change: number | null, low: number | null, high: number | null}} Difference */
/** @typedef {{version: number | null, replaced: number | null, env_step: number, at: string, unfinished: number, figures: Record<string, Difference>}} Load */

const path = () => ofRun("/api/v1/loads?limit=100");
const EVERY = 15_000; // ms; the episodes of the newest load become more all the time
const SHOWN = 8;

/** Name, heading, format. @type {[string, string, (value: any) => string][]} */
const COLUMNS = [
  ["milestones", "Milestones", decimal],
  ["rooms", "Rooms", tenth],
  ["deaths", "Deaths", percent],
  ["episode_return", "Return", reward],
  ["shaped_return", "Rise of the potential", reward],
  ["judge_score", "Judge score", decimal],
];

/** @param {{id?: string, title?: string, version?: number | null}} [how]  `version`: its loads only @returns {import("../parts.js").Panel} */
export function loads({ id = "loads", title = "Before and after each reward model", version = null } = {}) {
  return {
    id, title, look: "loads", sections: ["run"],
    mount(body, app, scope) {
      let drawn = "";
      /** @type {string | null} */
      let known = null;
      const answer = new Answer(app, scope, { path: path(), every: EVERY }).watch((got) => {
        const { value } = got;
        const mine = value?.loads.filter((/** @type {Load} */ load) => version === null || load.version === version).slice(0, SHOWN);
        const key = JSON.stringify([mine, value?.min_episodes]);
        if (value && key === drawn) return; // what has the focus or a selection keeps it
        drawn = key;
        show(body, value ? content(value, mine, version) : got.content(() => null));
      });
      return ({ run }) => {
        const now = run ? `${run.run_id} ${run.reward_model_version} ${run.reward_model_loaded_at_step}` : null;
        if (known !== null && now !== known) void answer.ask();
        known = now;
      };
    },
  };
}

/** @param {any} report @param {Load[]} mine @param {number | null} version */
function content(report, mine, version) {
  if (!mine.length) return empty(version === null ? "Available after the trainer has loaded its first reward model." : "No load of this version is recorded for this run.");
  const heads = ["Load", ...COLUMNS.map(([, heading]) => heading), "Episodes"];
  return h("div", {},
    h("p", { class: "quiet-text" }, "Means of up to ", from(path(), "max_episodes", count(report.max_episodes)), " episodes started before and after each load, with the confidence interval of the change. The policy learns continuously, so a change need not be caused by the load."),
    table({ look: "loads-table", heads, name: "Before and after each load", region: "wide", rows: mine.map((load) => row(load, report.min_episodes)) }).frame);
}

/** @param {Load} load @param {number} least  episodes of each group */
function row(load, least) {
  const figure = (/** @type {string} */ name, /** @type {string} */ text) => from(path(), `loads.${load.env_step}.${name}`, text);
  const link = load.version === null ? "no model" : h("a", { href: `/models/${load.version}` }, figure("version", `v${load.version}`));
  const { n_before: before, n_after: after } = load.figures.milestones;
  return h("tr", {},
    h("th", { scope: "row" }, link, load.replaced === null ? "" : h("span", { class: "quiet-text" }, " after ", figure("replaced", `v${load.replaced}`)),
      h("small", {}, "step ", figure("env_step", compact(load.env_step)), ", ", ago(load.at))),
    ...COLUMNS.map(([name, heading, text]) => cell(heading, ...change(load.figures[name], text, least, (field, shown) => figure(`figures.${name}.${field}`, shown)))),
    cell("Episodes", figure("figures.milestones.n_before", count(before)), " and ", figure("figures.milestones.n_after", count(after)),
      load.unfinished ? h("small", { title: "Finished episodes are counted once all episodes started at the same time have finished; otherwise short episodes would be over-represented." }, "+", figure("unfinished", count(load.unfinished)), " pending") : null));
}

/** @param {Difference} report @param {(value: any) => string} text @param {number} least @param {(field: string, text: string) => HTMLElement} figure */
function change(report, text, least, figure) {
  const means = [figure("before", text(report.before)), " → ", figure("after", text(report.after))];
  if (report.change === null) {
    const fewer = report.n_after <= report.n_before ? "n_after" : "n_before";
    return [...means, h("small", {}, "too few episodes (", figure(fewer, count(report[fewer])), " of ", from(path(), "min_episodes", count(least)), ")")];
  }
  const clear = (report.low ?? 0) > 0 || (report.high ?? 0) < 0;
  return [...means, h("small", { "data-clear": clear ? "yes" : "no", title: clear ? "The interval excludes zero" : "The interval includes zero" },
    figure("change", signed(report.change, text)), " (", figure("low", signed(report.low, text)), " to ", figure("high", signed(report.high, text)), ")")];
}

/** @param {number | null} value @param {(value: any) => string} text */
function signed(value, text) {
  const plain = text(value);
  return value !== null && value > 0 && !plain.startsWith("+") ? `+${plain}` : plain;
}
