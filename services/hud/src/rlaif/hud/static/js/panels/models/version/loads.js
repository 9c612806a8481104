// Before and after each load of this version: what came after, never because of it.

import { Answer, whyNot } from "../../../answer.js";
import { h, show } from "../../../dom.js";
import { compact, count, decimal, percent, reward } from "../../../format.js";
import { empty } from "../../../parts.js";
import { from, whisker } from "../figures.js";

const PATH = "/api/v1/loads?limit=100";
const SHOWN = 6;
/** Figure → its name, how it is written, whether a rise is good. @type {Record<string, [string, (value: number | null) => string, boolean | null]>} */
const FIGURES = {
  milestones: ["Milestones per episode", decimal, true],
  rooms: ["Rooms per episode", decimal, true],
  deaths: ["Episodes ended by death", percent, false],
  episode_return: ["Game return", decimal, true],
  shaped_return: ["Shaping return", decimal, null],
  judge_score: ["Judges' score", decimal, true],
};

/** @param {number} version @returns {import("../../../panel.js").Panel} */
export function loads(version) {
  /** @type {Answer<any> | null} */
  let answer = null;
  let known = "";
  return {
    id: "model-loads",
    title: "Before and after each load",
    sections: ["reward_models"],
    mount(body, app, scope) {
      const frame = /** @type {HTMLElement} */ (body.parentElement);
      answer = new Answer(app, scope, ({ value, problem }) => {
        frame.hidden = problem?.status === 404;
        show(body, problem ? whyNot(problem, () => answer?.ask()) : value ? drawn(value, version) : empty("Loading…"));
      });
      void answer.ask(PATH);
      scope.every(30_000, () => document.hidden || answer?.ask());
    },
    draw(_body, { reward_models: models }) {
      const row = models.published.find((/** @type {any} */ each) => each.version === version);
      const now = JSON.stringify(row?.loaded_at_steps ?? []);
      if (known && known !== now) void answer?.ask();
      known = now;
    },
  };
}

/** @param {any} report @param {number} version */
function drawn(report, version) {
  const mine = report.loads.filter((/** @type {any} */ load) => load.version === version).slice(0, SHOWN);
  if (!mine.length) return empty("No load of this version is recorded for this run.");
  return h("div", {}, h("p", { class: "sub" }, "Episodes started before and after the load, at most ", from(PATH, "most", count(report.most)), " each; interval of the difference at ", h("span", { class: "scale" }, "95 %"), ". The policy learns continuously, so a difference need not be caused by the load. The shaping reward is computed in the learner, so a load applies to all runners from its step on."),
    ...mine.map((/** @type {any} */ load) => one(load, report)));
}

/** @param {any} load @param {any} report */
function one(load, report) {
  const figure = (/** @type {string} */ name, /** @type {string} */ text) => from(PATH, `loads.${load.env_step}.${name}`, text);
  return h("section", { class: "load", "data-step": load.env_step },
    h("h3", {}, "Step ", figure("env_step", compact(load.env_step)), load.replaced === null ? ", the first model" : h("span", {}, ", in place of ", figure("replaced", `v${load.replaced}`)),
      load.until_step === null ? "" : h("span", {}, ", until step ", figure("until_step", compact(load.until_step)))),
    load.enough ? null : h("p", { class: "notice" }, h("b", {}, "Too few episodes"), `: each side needs `, from(PATH, "least", count(report.least)), load.unfinished ? h("span", {}, "; ", figure("unfinished", count(load.unfinished)), " more pending") : "", "."),
    h("table", { class: "before-after" }, h("thead", {}, h("tr", {}, ...["", "Before", "After", "Difference", "Picture"].map((head) => h("th", { scope: "col" }, head === "" || head === "Picture" ? h("span", { class: "visually-hidden" }, head || "Figure") : head)))),
      h("tbody", {}, ...Object.entries(load.figures).filter(([name]) => name in FIGURES).map(([name, difference]) => line(name, difference, figure)))));
}

/** @param {string} name @param {any} difference @param {(name: string, text: string) => HTMLElement} figure */
function line(name, { before, after, n_before: nBefore, n_after: nAfter, change, low, high }, figure) {
  const [label, write, rises] = FIGURES[name];
  const at = (/** @type {string} */ field) => `figures.${name}.${field}`;
  const side = (/** @type {string} */ which, /** @type {string} */ head, /** @type {number | null} */ value, /** @type {number} */ n) => h("td", { "data-label": head }, figure(at(which), write(value)), h("small", {}, "n = ", figure(at(`n_${which}`), count(n))));
  const sure = change !== null && low !== null && high !== null && (low > 0 || high < 0);
  const good = sure && rises !== null ? (change > 0) === rises : null;
  const reach = Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0), Math.abs(change ?? 0)) * 1.1 || 1;
  return h("tr", { "data-figure-name": name }, h("td", {}, label), side("before", "Before", before, nBefore), side("after", "After", after, nAfter),
    h("td", { "data-label": "Difference" }, change === null ? h("span", { class: "quiet-text" }, "too few episodes") : h("span", { class: good === null ? null : good ? "good-text" : "bad-text" }, figure(at("change"), reward(change)), h("small", {}, figure(at("low"), reward(low)), " to ", figure(at("high"), reward(high)))),
      change !== null && !sure ? h("small", {}, "not significant") : null),
    h("td", {}, change === null ? null : whisker({ value: change, low, high }, { range: [-reach, reach], bound: 0 })));
}
