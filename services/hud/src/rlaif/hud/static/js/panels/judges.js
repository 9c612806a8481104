// Health of the language-model calls.

import { byId, h, show } from "../dom.js";
import { ago } from "../clock.js";
import { count, duration, percentOf } from "../format.js";
import { empty, facts } from "../parts.js";

export function drawJudges({ judge }) {
  if (!judge.calls) {
    show(byId("judges"), empty("No call was seen yet. Calls show up here while they happen; they are not stored."));
    return;
  }
  show(byId("judges"),
    facts([
      ["Calls ok", percentOf(judge.ok, judge.calls), `Of the newest ${judge.window} calls at most`],
      ["Latency p50", duration(judge.latency_p50_seconds), "Calls that ended well"],
      ["Latency p95", duration(judge.latency_p95_seconds), "Calls that ended well"],
    ], "three"),
    h("ul", { class: "parts" }, ...judge.judges.map(judgeRow)),
    judge.last_failure ? h("p", { class: "sub" }, `Last failure: ${judge.last_failure.judge}, ${judge.last_failure.outcome}, `, ago(judge.last_failure.at)) : h("p", { class: "sub" }, `No failure among ${count(judge.calls)} calls.`));
}

function judgeRow(row) {
  const fill = h("i");
  fill.style.width = `${(100 * row.ok) / row.calls}%`;
  return h("li", { title: row.model },
    h("span", { class: "name" }, row.judge),
    h("span", { class: "bar01", "aria-hidden": "true" }, fill),
    h("span", { class: "amount" }, `${count(row.ok)}/${count(row.calls)}`));
}
