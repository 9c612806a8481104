// The planner: its suggestions and plans, how often they are followed, and how they end; and the newest calls of all language models.

import { h, keyed, show } from "../dom.js";
import { ago, count, duration, percent, percentOf, reward, shortId } from "../format.js";
import { cell, empty, facts, fig, table } from "../parts.js";

const SHOWN = 12;
const HEADS = ["Route", "Successful calls", "Latency", "Waiting", "Stale plans", "Completed plans", "Followed", "Bonus"];

const field = (name) => `assistance.${name}`;

function figures(report) {
  if (!report || report.has_planner === null) return [empty("Unknown until the first iteration.")];
  if (!report.has_planner) return [empty("No planner configured. Set ", h("code", {}, "TRAINER_PLANNER_BASE_URL"), " to let a language model assist the policy.")];
  return [...Object.entries(report.down).map(down), rates(report), modes(report.modes)];
}

const down = ([mode, reason]) => h("p", { class: "notice reported", "data-tone": "bad" }, h("b", {}, `${mode} is down: `), reason);

/** "48 % 12/25": a share with its numbers. */
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
  return table({ look: "modes", heads: HEADS, rows: names.map((name) => modeRow(name, rows[name])) }).frame;
}

function modeRow(name, row) {
  const figure = (part, text) => fig(field(`modes.${name}.${part}`), text(row[part]));
  const of = (part, all) => h("span", {}, figure(part, count), "/", figure(all, count));
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

/** @param {HTMLElement} body */
function mount(body) {
  const list = h("ol", { class: "calls" });
  show(body, h("div", {}), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Plans of the language model, newest first" }, list), empty("No plans yet. Each plan appears here with its outcome."));
}

function draw(body, { assistance: report }) {
  body.parentElement.hidden = !report?.has_planner;
  if (!report?.has_planner) return;
  const [head, newest, none] = body.children;
  const calls = report.newest ?? [];
  show(head, ...Object.entries(report.down).map(down), h("p", { class: "quiet-text" }, "Suggestions followed ", share(report, "followed", "suggestions")));
  [newest.hidden, none.hidden] = [!calls.length, calls.length > 0];
  keyed(newest.firstElementChild, calls.slice(0, SHOWN), keyOf, (call) => callItem(call));
}

/** The newest plans, beside the game; hidden without a planner. @type {import("../parts.js").Panel} */
export const player = { id: "suggestions", title: "Planner's suggestions", look: "player", hidden: true, sections: ["assistance"], mount, draw };

/** Its figures. @type {import("../parts.js").Panel} */
export const planner = { id: "player", title: "Planner", sections: ["assistance"], draw: (body, { assistance }) => show(body, ...figures(assistance)) };

export const CALLS = "/api/v1/llm/calls";
const CHOICES = [["", "all"], ["user=judge", "judges"], ["user=planner", "the planner"], ["failed=true", "failed"]];

/** The newest calls; the filter is in the address. @param {import("../api.js").Answer} answer @param {URLSearchParams} query @returns {import("../parts.js").Panel} */
export const calls = (answer, query) => ({
  id: "llm-calls",
  title: "Recent calls",
  mount(body, app, scope) {
    const chosen = CHOICES.find(([value]) => value && query.get(value.split("=")[0]) === value.split("=")[1])?.[0] ?? "";
    const choice = /** @type {HTMLSelectElement} */ (h("select", { id: "llm-choice" }, ...CHOICES.map(([value, label]) => h("option", { value, selected: value === chosen }, label))));
    const ask = () => void answer.ask(choice.value ? `${CALLS}?${choice.value}` : CALLS);
    scope.on(choice, "change", () => {
      const [name, value] = choice.value.split("=");
      app.setQuery({ user: null, failed: null, ...(name ? { [name]: value } : {}) });
      ask();
    });
    const note = h("div");
    const list = h("ol", { class: "calls" });
    body.append(h("p", { class: "choose" }, h("label", { for: "llm-choice" }, "Show "), choice), note, h("div", { class: "scroll calls-box", tabindex: "0", role: "region", "aria-label": "LLM calls, newest first" }, list));
    answer.watch(({ value }) => {
      show(note, answer.notice() ?? (value && !value.items.length ? empty("No matching calls. The HUD keeps only the latest calls in memory.") : null));
      if (value) keyed(list, value.items, keyOf, (call) => callItem(call));
    });
    ask();
  },
});

/** Calls may end at the same time with one answer, as shared or cached plans do; the detail names their environment. */
export const keyOf = (call, index) => `${call.at} ${call.user} ${call.name} ${call.segment_id} ${call.latency_seconds} ${call.detail} ${call.answer ?? index}`;

export function callItem(call) {
  return h("li", { "data-ok": call.ok ? "yes" : "no" },
    h("p", { class: "call-head" }, h("b", {}, call.name), ` · ${call.request}`, ...segmentOf(call), " · ", outcome(call), " · ",
      h("span", { class: "reported" }, duration(call.latency_seconds)), " · ", ago(call.at)),
    call.detail ? h("p", { class: "sub reported" }, call.detail) : null,
    call.answer ? h("blockquote", { class: "reported", title: call.answer }, call.answer) : null,
    call.remedy ? h("p", { class: "remedy reported" }, h("b", {}, "What to do: "), call.remedy) : null);
}

function segmentOf({ segment_id: id, episode_id: episode }) {
  if (!id) return [];
  const name = h("code", { title: id }, shortId(id));
  return [" of ", episode ? h("a", { href: `/segments/${episode}/${id}` }, name) : name];
}

function outcome(call) {
  if (!call.ok) return h("span", { class: "tag bad" }, `✕ ${call.outcome}`);
  if (call.user === "judge") return h("span", { class: "tag plain" }, "✓ answered");
  const ending = call.ending ? `: ${call.ending.replaceAll("_", " ")}` : "";
  return call.followed ? h("span", { class: "tag good" }, `✓ followed${ending}`) : h("span", { class: "tag plain" }, `not followed${ending}`);
}
