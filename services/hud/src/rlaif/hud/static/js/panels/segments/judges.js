// One card a judge: every call with its vote, its words, what it cost. Words of language models are shown as text.

import { h } from "../../dom.js";
import { count, duration, UNKNOWN } from "../../format.js";
import { empty, fig } from "../../parts.js";
import { idOf } from "../../segments/names.js";

/** @typedef {import("../../dom.js").Child} Child */

/** @param {any} detail @returns {Child[]} */
export function judgesOf({ judges, rubric, score_problem: problem }) {
  if (judges.length) return [h("div", { class: "cards" }, ...judges.map(card))];
  if (rubric.length) return [empty("No language model was called: all criteria were computed from the game's memory.")];
  return [empty(problem ?? "No answers yet.")];
}

/** @param {any} judge @param {number} index */
function card(judge, index) {
  const field = (/** @type {string} */ name) => `segment.judges.${index}.${name}`;
  return h("article", { class: "judge", "aria-label": `Judge ${judge.judge}` },
    h("h3", {}, judge.judge, judge.distrusted ? h("span", { class: "tag warn", title: "Excluded: it failed its control questions" }, "excluded") : null),
    h("p", { class: "sub reported" }, judge.model, " · ", h("code", {}, judge.route)),
    h("p", {}, judge.decided.length ? `decided ${judge.decided.join(", ")}` : "decided nothing"),
    h("p", { class: "sub" }, fig(field("ok"), count(judge.ok)), "/", fig(field("calls.length"), count(judge.calls.length)), " calls ok · ", fig(field("latency_seconds"), duration(judge.latency_seconds)), " · ",
      fig(field("prompt_tokens"), count(judge.prompt_tokens)), " + ", fig(field("completion_tokens"), count(judge.completion_tokens)), " tokens"),
    h("ol", { class: "calls" }, ...judge.calls.map(call)));
}

/** @param {any} each */
function call(each) {
  return h("li", { "data-outcome": each.outcome },
    h("p", {}, h("b", { class: "reported" }, `Vote ${each.vote + 1}`), ": ", ...saidOf(each), each.cached ? h("span", { class: "tag plain", title: "Answer reused from an identical request" }, "cached") : null),
    each.rationale ? h("blockquote", { class: "reported" }, each.rationale) : null,
    each.detail ? h("p", { class: "sub reported" }, each.detail) : null,
    h("details", { class: "reported" }, h("summary", {}, `${duration(each.latency_seconds)} · ${tokens(each)}`),
      h("dl", { class: "call-facts" }, ...[
        ["Prompt", idOf(each.prompt_sha256, "the prompt's digest")],
        ["System prompt", each.system_sha256 ? idOf(each.system_sha256, "digest of guide, rubric and schema") : UNKNOWN],
        ["Seed", String(each.seed)], ["Wording", String(each.variant)], ["Engine", each.engine ?? UNKNOWN],
        ["Finish reason", each.finish_reason ?? UNKNOWN], ["Cached prompt tokens", each.cached_tokens === null ? UNKNOWN : `${count(each.cached_tokens)} tokens`],
      ].map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))))));
}

/** @param {any} call */
const tokens = ({ prompt_tokens: asked, completion_tokens: said }) => (asked === null && said === null ? "tokens unknown" : `${count(asked)} + ${count(said)} tokens`);

/** What a vote says: levels, or why there is none. @param {any} call @returns {Child[]} */
function saidOf({ outcome, said }) {
  if (outcome !== "ok") return [h("span", { class: "tag bad" }, `no vote: ${outcome}`)];
  if (!said) return [h("span", { class: "quiet-text" }, "answer not stored")];
  return Object.entries(said).map(([name, level]) => h("span", { class: "said reported" }, `${name.replaceAll("_", " ")} `, h("b", {}, level === null ? "abstained" : String(level))));
}
