// The language models: routes with their latencies, and the cost per label.

import { kept } from "../../api.js";
import { h, setText, show } from "../../dom.js";
import { ago, compact, count, duration, percent, percentOf, UNKNOWN } from "../../format.js";
import { cell, empty, facts, from, listed, table } from "../../parts.js";

export const LLM = "/api/v1/llm";
const HEADS = ["Route", "Successful calls", "p50", "p95", "Prompt tokens", "Completion tokens", "Outcomes", "Last call"];

/** @param {import("../../api.js").Answer} answer @param {import("../../api.js").Answer} cost  with the tokens of the judges @returns {import("../../parts.js").Panel} */
export const routes = (answer, cost) => ({
  id: "llm-routes",
  title: "Routes",
  sections: ["services"],
  draw: (body, { services }) => show(/** @type {Element} */ (body.firstElementChild), ...broken(services)),
  mount(body) {
    const [content, note] = [h("div"), h("p", { class: "sub" })];
    show(body, h("div"), content, note);
    const draw = () => show(content, answer.notice() ?? answer.content((report) => routeTable(report, cost.value?.judges ?? [])));
    cost.watch(draw);
    answer.watch(({ value, problem }) => {
      const report = problem ? null : value;
      draw();
      show(note, ...(report?.routes.length ? ["Judges: latest ", from(LLM, "window", count(report.window)), " calls, tokens since the judge service started. Planner: the whole run. Latencies are of successful calls."] : []));
    });
  },
});

/** Checks of the judges' routes that fail: also of a route that has never answered, and so has no calls. @param {any[] | null} services */
const broken = (services) => (services ?? []).filter(({ name }) => name === "judge").flatMap(({ checks }) => Object.entries(checks))
  .filter(([name, { ok }]) => !ok && /^(route|trust):/.test(name))
  .map(([name, { detail }]) => h("p", { class: "notice reported", "data-tone": "bad" }, h("b", {}, name.startsWith("route:") ? `The route of ${name.slice(6)} is down` : `${name.slice(6)} fails its control questions`), `: ${detail}`));

function routeTable(report, judges) {
  if (!report.routes.length) return empty("No calls yet. Calls are shown as they happen and are not stored.");
  return h("div", {},
    ...report.routes.filter(({ down }) => down).map(({ name, route, down }) => h("p", { class: "notice reported", "data-tone": "bad" }, h("b", {}, `${name} is failing`), " (", h("code", {}, route), `): ${down}`)),
    h("div", { class: "wide" }, table({ look: "routes", heads: HEADS, rows: report.routes.map((/** @type {any} */ route, /** @type {number} */ index) => row(route, index, judges)) }).frame));
}

/** @param {any} route @param {number} index @param {any[]} judges */
function row(route, index, judges) {
  const own = route.user === "judge" ? judges.findIndex((/** @type {any} */ { name }) => name === route.name) : -1;
  const tokens = (/** @type {string} */ of, /** @type {string} */ name) => (own < 0 ? figure(of, compact) : from(LABELS, `judges.${own}.statistics.${name}`, compact(judges[own].statistics[name])));
  const where = `routes.${index}`;
  const figure = (/** @type {string} */ name, /** @type {(value: any) => string} */ text) => from(LLM, `${where}.${name}`, text(route[name]));
  const timed = `${count(route.timed)} calls`;
  const outcomes = Object.keys(route.outcomes).map((name) => h("span", {}, `${name} `, from(LLM, `${where}.outcomes.${name}`, count(route.outcomes[name]))));
  return h("tr", {},
    h("td", {}, h("b", {}, route.name), h("small", {}, ` ${route.user} · `, h("code", {}, route.route), route.model ? h("span", { class: "reported" }, ` · ${route.model}`) : null)),
    cell("Successful calls", from(LLM, `${where}.ok/${where}.calls`, percentOf(route.ok, route.calls)), h("small", {}, " ", figure("ok", count), "/", figure("calls", count))),
    cell("p50", h("span", { title: timed }, figure("latency_p50_seconds", duration))),
    cell("p95", h("span", { title: timed }, figure("latency_p95_seconds", duration)), h("small", {}, " n ", figure("timed", count))),
    cell("Prompt tokens", tokens("tokens_read", "prompt_tokens")),
    cell("Completion tokens", tokens("tokens_written", "completion_tokens")),
    cell("Outcomes", ...(outcomes.length ? listed(outcomes) : [UNKNOWN])),
    cell("Last", route.last_at ? ago(route.last_at) : UNKNOWN));
}

export const LABELS = "/api/v1/llm/labels";
const PRICE = "rlaif.price"; // per million tokens, in any currency

/** @param {import("../../api.js").Answer} answer @returns {import("../../parts.js").Panel} */
export const labels = (answer) => ({
  id: "llm-labels",
  title: "Cost per label",
  mount(body, _app, scope) {
    const report = h("div");
    const price = /** @type {HTMLInputElement} */ (h("input", { id: "llm-price", type: "number", min: 0, step: "any", inputmode: "decimal", value: kept.getItem(PRICE) ?? "" }));
    const cost = h("output", { class: "reported", for: "llm-price" }, UNKNOWN);
    body.append(report, h("p", { class: "choose" }, h("label", { for: "llm-price" }, "Price per million tokens "), price, " → cost per scored segment ", cost));
    const update = () => setText(cost, costOf(answer.value?.tokens_per_label ?? null, price.value));
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
      ["Tokens per scored segment", h("span", {}, figure("tokens_per_label", compact), h("small", {}, " n ", figure("labels", count))), "Since the judge service started"],
      ["Call seconds per scored segment", figure("seconds_per_label", duration)],
      ["Tokens today", h("span", {}, from(LABELS, "budget.spent", compact(budget.spent)), h("small", {}, ...(budget.per_day === null ? [", no limit"] : [" of ", from(LABELS, "budget.per_day", compact(budget.per_day))]))), budget.per_day === null ? "UTC day, this replica since its start" : "UTC day, all replicas"],
    ]),
    h("ul", { class: "plain judge-costs" }, ...report.judges.map(judge)));
}

function judge({ name, statistics }, index) {
  const figure = (/** @type {string} */ field, /** @type {(value: any) => string} */ text) => from(LABELS, `judges.${index}.statistics.${field}`, text(statistics[field]));
  return h("li", {}, h("b", {}, name), ": ", figure("cached_answers", count), " cached answers; invalid ", figure("parse_fail_rate", percent),
    statistics.believed ? null : h("span", { class: "tag warn" }, "excluded on a criterion"));
}
