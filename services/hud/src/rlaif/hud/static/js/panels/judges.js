// Health of the language-model calls.

import { h, show } from "../dom.js";
import { ago } from "../clock.js";
import { count, duration, percentOf } from "../format.js";
import { empty, facts, fig } from "../parts.js";

function draw(body, { judge }) {
  if (!judge.calls) {
    show(body, empty("No calls yet. Calls are shown as they happen and are not stored."));
    return;
  }
  show(body,
    ...judge.failing.map(failing),
    facts([
      ["Successful calls", share(judge), `Of the latest ${judge.window} calls`],
      ["Latency p50", fig("judge.latency_p50_seconds", duration(judge.latency_p50_seconds)), "Successful calls only"],
      ["Latency p95", fig("judge.latency_p95_seconds", duration(judge.latency_p95_seconds)), "Successful calls only"],
    ], "three"),
    h("ul", { class: "parts" }, ...judge.judges.map(judgeRow)),
    h("p", { class: "sub" }, "Last call ", ago(judge.last_call_at), ...failure(judge)));
}

function share({ ok, calls }) {
  return h("span", {}, fig("judge.ok/judge.calls", percentOf(ok, calls)), h("small", {}, " ", fig("judge.ok", count(ok)), "/", fig("judge.calls", count(calls))));
}

function failing(row) {
  return h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, `${row.judge} is failing`), " (", h("code", {}, row.route), `): `,
    fig(`judge.failing.${row.judge}.calls`, count(row.calls)), ` consecutive calls ended with ${row.outcome}, since `, ago(row.since, { suffix: "" }));
}

function failure({ calls, last_failure: last }) {
  if (!last) return [". No failure among ", fig("judge.calls", count(calls)), " calls."];
  return [`. Last failure: ${last.judge}, ${last.outcome}, `, ago(last.at), "."];
}

function judgeRow(row) {
  const fill = h("i");
  fill.style.width = `${(100 * row.ok) / row.calls}%`;
  return h("li", { title: row.model },
    h("span", { class: "name" }, row.judge),
    h("span", { class: "bar01", "aria-hidden": "true" }, fill),
    h("span", { class: "amount" }, fig(`judge.judges.${row.judge}.ok`, count(row.ok)), "/", fig(`judge.judges.${row.judge}.calls`, count(row.calls))));
}

/** @type {import("../panel.js").Panel} */
export const judges = { id: "judges", title: "Judge health", sections: ["judge"], draw };
