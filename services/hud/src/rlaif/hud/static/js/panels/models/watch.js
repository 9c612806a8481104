// By the reward-model service's own word: its watchdog, its last attempt, whose scores are learned.

import { Answer, whyNot } from "../../answer.js";
import { ago } from "../../clock.js";
import { h, show } from "../../dom.js";
import { count, duration, percent } from "../../format.js";
import { empty } from "../../parts.js";
import { MODELS, from, shortId } from "./figures.js";

const WATCHDOG = `${MODELS}/watchdog`;
const TRAINING = `${MODELS}/training`;
const EVERY = 15_000; // ms: an iteration takes longer

/** @type {import("../../panel.js").Panel} */
export const watch = {
  id: "models-watch",
  title: "Watchdog and training",
  sections: [],
  draw() {},
  mount(body, app, scope) {
    const [first, second] = [h("div"), h("div")];
    show(body, first, second);
    const dog = new Answer(app, scope, (answer) => show(first, watchdog(/** @type {any} */ (answer.value), answer, () => dog.ask())));
    const training = new Answer(app, scope, (answer) => show(second, ...attempts(/** @type {any} */ (answer.value), app)));
    const ask = () => {
      if (document.hidden) return;
      void dog.ask(WATCHDOG);
      void training.ask(TRAINING);
    };
    ask();
    scope.every(EVERY, ask);
  },
};

/** @param {any} report @param {{problem: any}} answer @param {() => void} again */
function watchdog(report, { problem }, again) {
  if (problem && !report) return whyNot(problem, again);
  if (!report) return empty("Loading…");
  const figure = (/** @type {string} */ name) => from(WATCHDOG, name, count(report[name]));
  const stale = problem ? h("p", { class: "sub" }, "The service does not respond; showing its last report.") : null;
  return h("div", {},
    h("p", { class: report.alarms ? "notice" : "", "data-tone": report.alarms ? "bad" : null },
      report.alarms ? h("b", {}, figure("alarms"), report.alarms === 1 ? " alarm" : " alarms", " since its start") : h("span", {}, h("b", { class: "good-text" }, "✓ no alarm"), " since its start"),
      report.last_alarm ? h("span", {}, ", the last of ", from(WATCHDOG, "last_alarm_version", `v${report.last_alarm_version}`), ": ", h("span", { class: "reported" }, report.last_alarm)) : null),
    h("p", { class: "sub", title: "The watchdog raises an alarm when the shaping reward rises while progress in RAM (milestones, rooms, game return) is flat or the judges' scores fall" },
      "It compares the shaping reward with progress in RAM and with the judges' scores: ", figure("iterations"), " of ", figure("window"), " iterations seen."), stale);
}

/** @param {any} report @param {import("../../app.js").App} app */
function attempts(report, app) {
  if (!report) return [];
  const figure = (/** @type {string} */ name, /** @type {string} */ text) => from(TRAINING, name, text);
  return [
    report.demotion ? h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, "Withdrawn"), ": ", h("span", { class: "reported" }, report.demotion)) : null,
    report.last_attempt ? attempt(report.last_attempt, figure, app) : h("p", { class: "sub" }, "No training since the service started."),
    ...(report.judge_configs.length > 1 ? [h("p", { class: "sub" }, "Scores of ", from(TRAINING, "judge_configs.length", count(report.judge_configs.length)), " judge configurations; the model uses ", report.judge_config ? shortId(report.judge_config, app) : "none", ".")] : []),
    ...skipped(report),
  ];
}

const ENDED = { published: "went live", rejected: "was rejected", unchanged: "equals the champion: same labels, same settings", held: "passed; not live because the champion is pinned" };

/** @param {any} last @param {(name: string, text: string) => HTMLElement} figure @param {import("../../app.js").App} app */
function attempt(last, figure, app) {
  const outcome = /** @type {Record<string, string>} */ (ENDED)[last.outcome] ?? last.outcome;
  return h("p", { class: "attempt" }, "Last attempt ", shortId(last.candidate_id, app, 16), ` ${outcome} `, ago(last.ended_at), ": ",
    figure("last_attempt.labels", count(last.labels)), " labels of ", figure("last_attempt.episodes", count(last.episodes)), " episodes in ", figure("last_attempt.seconds", duration(last.seconds)),
    last.metrics.heldout_accuracy === null ? null : h("span", {}, ", held-out ", figure("last_attempt.metrics.heldout_accuracy", percent(last.metrics.heldout_accuracy))), ".");
}

/** @param {any} report */
function skipped(report) {
  const rows = Object.entries(report.skipped);
  if (!rows.length) return [];
  return [h("details", {}, h("summary", {}, "Scores not used as labels"),
    h("ul", { class: "plain reported" }, ...rows.map(([reason, n]) => h("li", {}, `${count(/** @type {number} */ (n))} ${reason}`))))];
}
