// As reported by the reward-model service: watchdog, last training attempt, champion history.

import { Answer } from "../../api.js";
import { h, show } from "../../dom.js";
import { ago, count, duration, percent } from "../../format.js";
import { empty, from } from "../../parts.js";
import { MODELS, named, shortId } from "./figures.js";

const WATCHDOG = `${MODELS}/watchdog`;
const TRAINING = `${MODELS}/training`;
const EVERY = 15_000; // ms: an iteration takes longer

/** @type {import("../../parts.js").Panel} */
export const watch = {
  id: "models-watch",
  title: "Watchdog and training",
  mount(body, app, scope) {
    const [first, second] = [h("div"), h("div")];
    show(body, first, second);
    new Answer(app, scope, { path: WATCHDOG, every: EVERY }).watch((answer) => show(first, answer.content((report) => watchdog(report, answer.problem))));
    new Answer(app, scope, { path: TRAINING, every: EVERY }).watch(({ value }) => show(second, ...(value ? training(value) : [])));
  },
};

/** @param {any} report @param {unknown} problem  of the last request */
export function watchdog(report, problem) {
  const figure = (/** @type {string} */ name) => from(WATCHDOG, name, count(report[name]));
  return h("div", {},
    h("p", { class: report.alarms ? "notice" : "", "data-tone": report.alarms ? "bad" : null },
      report.alarms ? h("b", {}, figure("alarms"), report.alarms === 1 ? " alarm" : " alarms", " since its start") : h("span", {}, h("b", { class: "good-text" }, "✓ no alarm"), " since its start"),
      report.alarm ? h("span", {}, ", the last of ", from(WATCHDOG, "alarm.version", `v${report.alarm.version}`), ": ", h("span", { class: "reported" }, report.alarm.description)) : null),
    h("p", { class: "sub", title: "The watchdog raises an alarm when the shaping reward rises while progress in RAM (milestones, rooms, game return) is flat or the judges' scores fall" },
      "It compares the shaping reward with progress in RAM and with the judges' scores over the last ", figure("window"), " iterations", ...(report.iterations < report.window ? [", ", figure("iterations"), " of them so far"] : []), "."),
    problem ? h("p", { class: "sub" }, "The service does not respond; showing its last report.") : null);
}

function training(report) {
  const figure = (/** @type {string} */ name, /** @type {string} */ text) => from(TRAINING, name, text);
  const configs = report.judge_configs.length;
  const skipped = Object.entries(report.skipped);
  return [
    report.demotion ? h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, "Withdrawn"), ": ", h("span", { class: "reported" }, report.demotion)) : null,
    report.last_attempt ? attempt(report.last_attempt, figure) : h("p", { class: "sub" }, "No training since the service started."),
    configs > 1 ? h("p", { class: "sub" }, "Scores of ", figure("judge_configs.length", count(configs)), " judge configurations; the model uses ", report.judge_config ? shortId(report.judge_config) : "none", ".") : null,
    skipped.length ? h("details", {}, h("summary", {}, "Scores not used as labels"), h("ul", { class: "plain reported" }, ...skipped.map(([reason, n]) => h("li", {}, `${count(n)} ${reason}`)))) : null,
  ];
}

/** @type {Record<string, string>} */
const OUTCOMES = { published: "went live", rejected: "was rejected", unchanged: "equals the champion: same labels, same settings", held: "passed; not live because the champion is pinned" };

/** @param {any} last @param {(name: string, text: string) => HTMLElement} figure */
function attempt(last, figure) {
  const { heldout_accuracy: accuracy } = last.metrics;
  return h("p", { class: "attempt" }, "Last attempt ", shortId(last.candidate_id, 16), ` ${OUTCOMES[last.outcome] ?? last.outcome} `, ago(last.ended_at), ": ",
    figure("last_attempt.labels", count(last.labels)), " labels of ", figure("last_attempt.episodes", count(last.episodes)), " episodes in ", figure("last_attempt.seconds", duration(last.seconds)),
    accuracy === null ? null : h("span", {}, ", held-out ", figure("last_attempt.metrics.heldout_accuracy", percent(accuracy))), ".");
}

const PATH = "/api/v1/history?points=2";
const SHOWN = 100;
/** @type {Record<string, string>} */
const BY = { gate: "passed the gate", person: "by a person", watchdog: "by the watchdog", demotion: "newer labels contradict the previous one", start: "found at service start" };

/** @type {import("../../parts.js").Panel} */
export const changes = {
  id: "models-changes",
  title: "Champion history",
  mount(body, app, scope) {
    const answer = new Answer(app, scope).watch((got) => show(body, got.content(({ changes: rows }) => list(rows))));
    let known = "";
    scope.add(app.store.watch(["reward_models"], ({ reward_models: models }) => {
      const now = JSON.stringify([models.champion?.version, models.champion?.since, models.champion?.pinned, models.withdrawn]);
      if (now !== known) void answer.ask(PATH);
      known = now;
    }));
  },
};

/** @param {any[]} rows  oldest first */
function list(rows) {
  if (!rows.length) return empty("No changes yet.");
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Champion changes" },
    h("ol", { class: "changes" }, ...rows.slice(-SHOWN).reverse().map(change)));
}

function change({ version, why, words, pinned, pin_reason: reason, pinned_until: until, withdrawn, changed_at: at }) {
  const state = withdrawn ? "was withdrawn" : pinned ? "is live, pinned" : "is live";
  const texts = new Set([withdrawn, pinned ? reason : null, words].filter(Boolean));
  return h("li", { "data-why": why }, h("span", { class: "sub" }, ago(at)),
    h("p", {}, h("a", { href: `/models/${version}` }, named(version)), ` ${state}`, h("span", { class: "tag plain" }, BY[why] ?? why),
      ...[...texts].map((text) => h("span", { class: "quiet-text reported" }, ` ${text}`)),
      pinned && until ? h("span", { class: "quiet-text" }, ", until ", h("time", { datetime: until }, new Date(until).toLocaleString())) : null));
}
