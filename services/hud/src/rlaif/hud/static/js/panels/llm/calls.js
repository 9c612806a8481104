// The newest calls with remedies for those that failed, and the cost per label.

import { ago } from "../../clock.js";
import { h, keyed, setText, show } from "../../dom.js";
import { compact, count, duration, percent, UNKNOWN } from "../../format.js";
import { kept } from "../../kept.js";
import { empty, facts, from } from "../../parts.js";

export const CALLS = "/api/v1/llm/calls";
const CHOICES = [["", "all"], ["user=judge", "judges"], ["user=planner", "the planner"], ["failed=true", "failed"]];

/** The newest calls; the filter is in the address. @param {import("../../answer.js").Answer} answer @param {URLSearchParams} query @returns {import("../../panel.js").Panel} */
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

/** Votes of one judge may end at the same time; the answer then identifies them. */
export const keyOf = (call, index) => `${call.at} ${call.user} ${call.name} ${call.segment_id} ${call.latency_seconds} ${call.answer ?? index}`;

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
  const short = h("code", { title: id }, id.length > 14 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id);
  return [" of ", episode ? h("a", { href: `/segments/${episode}/${id}` }, short) : short];
}

function outcome(call) {
  if (!call.ok) return h("span", { class: "tag bad" }, `✕ ${call.outcome}`);
  if (call.user === "judge") return h("span", { class: "tag plain" }, "✓ answered");
  const ending = call.ending ? `: ${call.ending.replaceAll("_", " ")}` : "";
  return call.followed ? h("span", { class: "tag good" }, `✓ followed${ending}`) : h("span", { class: "tag plain" }, `not followed${ending}`);
}

export const LABELS = "/api/v1/llm/labels";
const PRICE = "rlaif.price"; // per million tokens, in any currency

/** @param {import("../../answer.js").Answer} answer @returns {import("../../panel.js").Panel} */
export const labels = (answer) => ({
  id: "llm-labels",
  title: "Cost per label",
  mount(body, _app, scope) {
    const report = h("div");
    const price = /** @type {HTMLInputElement} */ (h("input", { id: "llm-price", type: "number", min: 0, step: "any", inputmode: "decimal", value: kept.getItem(PRICE) ?? "" }));
    const cost = h("output", { class: "reported", for: "llm-price" }, UNKNOWN);
    body.append(report, h("p", { class: "choose" }, h("label", { for: "llm-price" }, "Price per million tokens "), price, " → cost per useful label ", cost));
    const update = () => setText(cost, costOf(answer.value?.tokens_per_useful_label ?? null, price.value));
    scope.on(price, "input", () => {
      kept.setItem(PRICE, price.value);
      update();
    });
    answer.watch(() => {
      show(report, answer.content((value) => content(value, answer.problem)));
      update();
    });
  },
});

/** In the money of the price; "—" when one of both is not known. @param {number | null} tokens @param {string} price */
export function costOf(tokens, price) {
  const each = Number.parseFloat(price);
  return tokens === null || !(each >= 0) ? UNKNOWN : ((tokens * each) / 1e6).toPrecision(3);
}

function content(report, problem) {
  const figure = (/** @type {string} */ name, /** @type {(value: any) => string} */ text) => from(LABELS, name, text(report[name]));
  const { budget } = report;
  return h("div", {},
    problem ? h("p", { class: "sub" }, "The judge service does not respond; showing its last report.") : null,
    budget.pause ? h("p", { class: "notice reported", "data-tone": "bad" }, h("b", {}, "Judging is paused: "), budget.pause) : null,
    facts([
      ["Tokens per useful label", h("span", {}, figure("tokens_per_useful_label", compact), h("small", {}, " n ", figure("useful_labels", count))), "Labels with new evidence in which votes decided at least one learned criterion"],
      ["Tokens per label", h("span", {}, figure("tokens_per_label", compact), h("small", {}, " n ", figure("labels", count))), "Segments scored since the judge service started"],
      ["Call seconds per label", figure("seconds_per_label", duration)],
      ["Tokens today", h("span", {}, from(LABELS, "budget.spent", compact(budget.spent)), h("small", {}, " of ", budget.per_day === null ? "no limit" : from(LABELS, "budget.per_day", compact(budget.per_day)))), "UTC day, all replicas"],
    ]),
    h("ul", { class: "plain judge-costs" }, ...report.judges.map(judge)));
}

function judge({ name, standing }, index) {
  const figure = (/** @type {string} */ field, /** @type {(value: any) => string} */ text) => from(LABELS, `judges.${index}.standing.${field}`, text(standing[field]));
  return h("li", {}, h("b", {}, name), ": read ", figure("prompt_tokens", compact), ", wrote ", figure("completion_tokens", compact), " tokens; ",
    figure("cached_answers", count), " cached answers; unreadable ", figure("parse_fail_rate", percent),
    standing.believed ? null : h("span", { class: "tag warn" }, "excluded on a criterion"));
}
