// The language model that plays along: what it wanted, whether that was followed, and how it ended.

import { h, show } from "../dom.js";
import { ago } from "../clock.js";
import { count, duration, percent, percentOf, reward } from "../format.js";
import { empty, facts, fig } from "../parts.js";

const SHOWN = 12;

function draw(body, { assistance }) {
  const scrolled = body.querySelector(".scroll")?.scrollTop ?? 0;
  show(body, ...content(assistance));
  const list = body.querySelector(".scroll");
  if (list) list.scrollTop = scrolled;
}

function content(report) {
  if (!report || report.has_planner === null) return [empty("Unknown until the first iteration.")];
  if (!report.has_planner) return [empty("No planner configured. Set ", h("code", {}, "TRAINER_PLANNER_BASE_URL"), " to let a language model assist the policy.")];
  const figures = h("div", {}, ...Object.entries(report.down).map(down), rates(report), modes(report.modes));
  return [h("div", { class: "player-columns" }, figures, newest(report.newest))];
}

const down = ([mode, why]) => h("p", { class: "notice reported", "data-tone": "bad" }, h("b", {}, `${mode} is down: `), why);

const field = (name) => `assistance.${name}`;

/** "48 % 12/25": a share with what it is of. */
function share(report, part, all) {
  return h("span", {}, fig(`${field(part)}/${field(all)}`, percentOf(report[part], report[all])),
    h("small", {}, " ", fig(field(part), count(report[part])), "/", fig(field(all), count(report[all]))));
}

function rates(report) {
  return facts([
    ["Completed plans", share(report, "done", "takeovers"), "Plans executed to the end, of all finished takeovers"],
    ["Suggestions followed", share(report, "followed", "suggestions"), "Suggestions whose button the policy chose, of all finished suggestions"],
    ["Successful calls", share(report, "ok", "calls"), "Calls with a usable answer, excluding cached answers"],
    ["Steps by the planner", fig(`${field("planner_steps")}/${field("env_steps")}`, report.env_steps ? percent(report.planner_steps / report.env_steps) : "—"), `${count(report.planner_steps)} of ${count(report.env_steps)} steps of the run`],
  ]);
}

function modes(rows) {
  const names = Object.keys(rows);
  if (!names.length) return h("p", { class: "sub" }, "No requests yet.");
  return h("table", { class: "modes" },
    h("thead", {}, h("tr", {}, ...["Route", "Successful calls", "Latency", "Waiting", "Stale plans", "Completed plans", "Followed", "Bonus"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...names.map((name) => modeRow(name, rows[name]))));
}

function modeRow(name, row) {
  const figure = (part, text) => fig(field(`modes.${name}.${part}`), text(row[part]));
  const of = (part, all) => h("span", {}, figure(part, count), "/", figure(all, count));
  const cell = (label, ...children) => h("td", { "data-label": label }, ...children);
  return h("tr", {},
    h("td", {}, h("b", {}, name)),
    cell("Successful calls", of("ok", "calls"), ...(row.cached ? [h("small", {}, "and ", figure("cached", count), " cached")] : [])),
    cell("Latency", figure("latency_mean_seconds", duration)),
    cell("Waiting", figure("in_flight", count)),
    cell("Stale plans", of("stale", "plans")),
    cell("Completed plans", of("done", "takeovers")),
    cell("Followed", of("followed", "suggestions")),
    cell("Bonus", figure("bonus", reward)));
}

function newest(calls) {
  if (!calls.length) return empty("No plans yet. Each plan appears here with its outcome.");
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Plans of the language model, newest first" },
    h("ol", { class: "wishes" }, ...calls.slice(0, SHOWN).map(wish)));
}

function wish(call, index) {
  const figure = (part, text) => fig(field(`newest.${index}.${part}`), text(call[part]));
  return h("li", { "data-kind": call.kind },
    h("p", { class: "wanted reported" }, ...wanted(call)),
    outcome(call, figure),
    call.reason ? h("blockquote", { class: "reported", title: call.reason }, call.reason) : null,
    h("p", { class: "sub" }, h("span", {}, call.mode), " · environment ", h("code", {}, call.env), ", step ", figure("step", count), " · ",
      ...(call.cached ? ["cached answer"] : ["answered in ", figure("latency_seconds", duration)]), " · ", ago(call.at)));
}

function wanted({ kind, wanted: macros }) {
  if (!macros.length) return [h("span", { class: "quiet-text" }, kind === "plan" ? "plan requested" : "suggestion requested")];
  if (kind === "suggestion") return ["press ", h("kbd", {}, macros[0])];
  return macros.flatMap((macro, index) => [index ? " → " : "", h("span", { class: "macro" }, inWords(macro))]);
}

/** "MOVE_TO column=3 row=4" → "move to column 3 row 4". */
function inWords(macro) {
  const [kind, ...rest] = macro.split(" ");
  return [kind.toLowerCase().replaceAll("_", " "), ...rest.map((part) => part.replace("=", " ").replaceAll("_", " "))].join(" ");
}

/** How it ended, as a word with a colour; a plan that ran says how far it came. */
function outcome(call, figure) {
  const why = call.ending_reason ? h("span", { class: "quiet-text reported" }, ` · ${call.ending_reason}`) : null;
  if (call.followed === null) return h("p", {}, tag("bad", `no usable answer: ${call.call}`), why);
  const ending = call.ending.replaceAll("_", " ");
  if (call.kind === "suggestion") return h("p", {}, call.followed ? tag("good", "✓ the policy followed") : tag("plain", `not followed: ${ending}`), why);
  if (!call.followed) return h("p", {}, tag("plain", `not played: ${ending}`), why);
  const after = h("span", { class: "quiet-text" }, " after ", figure("steps", count), call.steps === 1 ? " step" : " steps");
  return h("p", {}, call.ending === "done" ? tag("good", "✓ done") : tag("warn", `stopped: ${ending}`), after, why);
}

const tag = (tone, text) => h("span", { class: `tag ${tone}` }, text);

/** @type {import("../panel.js").Panel} */
export const player = { id: "player", title: "Planner", sections: ["assistance"], draw };
