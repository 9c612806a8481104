// Cost per label: tokens and time as measured by the judges, and money by the price that the reader enters.

import { h, setText, show } from "../../dom.js";
import { compact, count, duration, percent, UNKNOWN } from "../../format.js";
import { kept } from "../../kept.js";
import { facts, from } from "../../parts.js";

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
