// Every route of a language model: who asks there, how often it answers well, how long it takes.

import { whyNot } from "../../answer.js";
import { ago } from "../../clock.js";
import { h, show } from "../../dom.js";
import { compact, count, duration, percentOf, UNKNOWN } from "../../format.js";
import { empty } from "../../parts.js";
import { bars, latencyTable, shared } from "./latencies.js";

export const LLM = "/api/v1/llm";
const HEADS = ["Route", "Successful calls", "p50", "p95", "Latencies", "Prompt tokens", "Completion tokens", "Outcomes", "Last call"];

/** A number of the document at `path`. @param {string} path @param {string} field @param {string} text @param {string | null} [title] */
export const of = (path, field, text, title = null) => h("span", { "data-figure": `${path}#${field}`, title }, text);

/** @param {import("../../polled.js").Polled<any>} polled @returns {import("../../panel.js").Panel} */
export const routes = (polled) => ({
  id: "llm-routes",
  title: "Routes",
  sections: [],
  draw() {},
  mount(body) {
    const [said, note] = [h("div"), h("p", { class: "sub" })];
    const table = latencyTable((field, text) => of(LLM, field, text));
    show(body, said, table.element, note);
    polled.show(({ value, problem }) => {
      const report = problem ? null : value;
      show(said, ...content(value, problem, () => polled.ask()));
      table.update(report?.routes ?? [], report?.latency_edges_seconds ?? []);
      show(note, ...(report?.routes.length ? ["Judges: latest ", of(LLM, "window", count(report.window)), " calls. Planner: the whole run. Latency histograms include successful calls only and share one logarithmic axis; each is scaled to its own maximum."] : []));
    });
  },
});

function content(report, problem, again) {
  if (problem) return [whyNot(problem, again)];
  if (!report) return [empty("Asking…")];
  if (!report.routes.length) return [empty("No calls yet. Calls are shown as they happen and are not stored.")];
  const all = shared(report.routes, report.latency_edges_seconds);
  return [
    ...report.routes.filter(({ down }) => down).map(({ name, route, down }) => h("p", { class: "notice reported", "data-tone": "bad" }, h("b", {}, `${name} is failing`), " (", h("code", {}, route), `): ${down}`)),
    h("div", { class: "wide" }, h("table", { class: "routes" },
      h("thead", {}, h("tr", {}, ...HEADS.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...report.routes.map((/** @type {any} */ route, /** @type {number} */ index) => row(route, index, all))))),
  ];
}

/** @param {any} route @param {number} index @param {import("./latencies.js").Edges[]} all  of the histograms */
function row(route, index, all) {
  const figure = (/** @type {string} */ name, /** @type {(value: any) => string} */ text) => of(LLM, `routes.${index}.${name}`, text(route[name]));
  const cell = (/** @type {string} */ label, /** @type {any[]} */ ...children) => h("td", { "data-label": label }, ...children);
  const where = `routes.${index}`;
  const timed = `${count(route.timed)} calls`;
  const ends = Object.keys(route.outcomes).flatMap((name, at) => [at ? ", " : "", `${name} `, of(LLM, `${where}.outcomes.${name}`, count(route.outcomes[name]))]);
  return h("tr", {},
    h("td", {}, h("b", {}, route.name), h("small", {}, ` ${route.user} · `, h("code", {}, route.route), route.model ? h("span", { class: "reported" }, ` · ${route.model}`) : null)),
    cell("Successful calls", of(LLM, `${where}.ok/${where}.calls`, percentOf(route.ok, route.calls)), h("small", {}, " ", figure("ok", count), "/", figure("calls", count))),
    cell("p50", h("span", { title: timed }, figure("latency_p50_seconds", duration))),
    cell("p95", h("span", { title: timed }, figure("latency_p95_seconds", duration)), h("small", {}, " n ", figure("timed", count))),
    cell("Latencies", bars(route, all)),
    cell("Prompt tokens", figure("tokens_read", compact)),
    cell("Completion tokens", figure("tokens_written", compact)),
    cell("Outcomes", ...(ends.length ? ends : [UNKNOWN])),
    cell("Last", route.last_at ? ago(route.last_at) : UNKNOWN));
}
