// Content of a segment's page: what it is, its score by criterion, and every call of each judge.

import { h } from "../../dom.js";
import { ago, count, decimal, duration, hex, percent, reward, roomName, UNKNOWN } from "../../format.js";
import { bar01, decided, empty, facts, fig, questOf } from "../../parts.js";
import { secondsOf } from "../../segments/film.js";
import { found, idOf, inWords, REASONS } from "../../segments/found.js";

/** @typedef {import("../../dom.js").Child} Child */

const DECIDERS = { votes: "judges' votes", computed: "computed from RAM", human: "a person" };
const CLOSE = 0.0005;
const LEVELS = "Level: one number per vote; 0 worse, 1 no change, 2 better. The level of progress follows from the voted positions on the quest: any rise is 2.";

/** To 3 decimals, so that parts can be summed by eye. @param {number | null} value */
const three = (value) => (value === null ? UNKNOWN : value.toFixed(3));

/** @param {any} detail @returns {Child[]} */
export function scoreOf(detail) {
  if (!detail.rubric.length) return [empty(detail.score_problem ?? "Not scored yet.")];
  const sum = detail.weighted === null ? null : detail.rubric.reduce((/** @type {number} */ total, /** @type {any} */ { part }) => total + (part ?? 0), 0);
  return [
    h("p", { class: "verdict-head" }, h("span", { class: "big" }, fig("segment.weighted", three(detail.weighted))), h("span", { class: "scale" }, detail.weighted === null ? "no score: less than half of the weight was scored" : "of 1"), decided(detail, "segment")),
    sum !== null && Math.abs(sum - detail.weighted) > CLOSE ? h("p", { class: "notice", "data-tone": "bad", role: "alert" }, `The parts sum to ${three(sum)}, not to the score: the stored score is inconsistent.`) : null,
    questOf(detail, "segment"),
    h("table", { class: "rubric" },
      h("thead", {}, h("tr", {}, ...["Criterion", "Level", "Value", "Weight", "Part", "Decided by"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...detail.rubric.map(line)),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "Score"), h("td", {}), h("td", {}), h("td", {}), h("td", { "data-label": "Score" }, fig("segment.weighted", three(sum))), h("td", {})))),
    h("p", { class: "sub scale" }, LEVELS),
  ];
}

function line(each) {
  const { criterion, weight, score, reason: why, share, part } = each;
  const field = (/** @type {string} */ name) => `segment.rubric.${criterion}.${name}`;
  const title = share === null ? why : `${percent(share)} of the scored weight`;
  return h("tr", {},
    h("th", { scope: "row" }, criterion),
    h("td", { "data-label": "Level" }, score ? levelOf(score, field) : UNKNOWN),
    h("td", { class: "score", "data-label": "Value" }, ...bar01(field("score.value"), score?.value ?? null, { title: why, source: score && score.source !== "votes" ? score.source : null })),
    h("td", { "data-label": "Weight", title }, fig(field("weight"), decimal(weight))),
    h("td", { "data-label": "Part", title }, fig(field("part"), three(part))),
    h("td", { "data-label": "Decided by" }, ...byWhom(each)));
}

/** Votes as they were cast: "2 2 1". @param {any} score @param {(name: string) => string} field */
function levelOf({ votes, agreement, source }, field) {
  const cast = votes.map((/** @type {number} */ vote, /** @type {number} */ at) => h("span", { class: "vote", "data-level": vote, "data-figure": field(`score.votes.${at}`) }, String(vote)));
  return h("span", { title: source === "votes" ? `Agreement ${percent(agreement)}` : "Of 0, 1 and 2" }, ...cast);
}

/** @param {any} line @returns {Child[]} */
function byWhom({ criterion, decided_by: by, score, reason: why, known_level: known, audit }) {
  if (!by) return [h("span", { class: "quiet-text" }, (why ?? "").replaceAll("_", " "))];
  const who = by === "votes" ? `${score.judge}: ${DECIDERS.votes}` : DECIDERS[/** @type {"computed" | "human"} */ (by)];
  const check = by === "votes" && known !== null ? h("small", {}, "level by RAM: ", fig(`segment.rubric.${criterion}.known_level`, String(known))) : null;
  const audited = audit ? h("small", { class: "reported" }, `${audit.judge}, audit: ${audit.votes.join(", ")}`) : null;
  return [who, check, audited];
}

/** @param {any} detail @returns {Child[]} */
export function judgesOf({ judges, rubric, score_problem: problem }) {
  if (judges.length) return [h("div", { class: "cards" }, ...judges.map(card))];
  if (rubric.length) return [empty("No language model was called: all criteria were computed from the game's memory.")];
  return [empty(problem ?? "No answers yet.")];
}

function card(judge, index) {
  const field = (/** @type {string} */ name) => `segment.judges.${index}.${name}`;
  return h("article", { class: "judge", "aria-label": `Judge ${judge.judge}` },
    h("h3", {}, judge.judge, judge.excluded ? h("span", { class: "tag warn", title: "Excluded: it failed its control questions" }, "excluded") : null),
    h("p", { class: "sub reported" }, judge.model, " · ", h("code", {}, judge.route)),
    h("p", {}, judge.decided.length ? `decided ${judge.decided.join(", ")}` : "decided nothing"),
    h("p", { class: "sub" }, fig(field("ok"), count(judge.ok)), "/", fig(field("calls.length"), count(judge.calls.length)), " calls ok · ", fig(field("latency_seconds"), duration(judge.latency_seconds)), " · ",
      fig(field("prompt_tokens"), count(judge.prompt_tokens)), " + ", fig(field("completion_tokens"), count(judge.completion_tokens)), " tokens"),
    h("ol", { class: "calls" }, ...judge.calls.map(call)));
}

function call(each) {
  return h("li", { "data-outcome": each.outcome },
    h("p", {}, h("b", { class: "reported" }, `Vote ${each.vote + 1}`), ": ", ...levelsOf(each), each.cached ? h("span", { class: "tag plain", title: "Answer reused from an identical request" }, "cached") : null),
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

const tokens = ({ prompt_tokens: asked, completion_tokens: said }) => (asked === null && said === null ? "tokens unknown" : `${count(asked)} + ${count(said)} tokens`);

/** What a vote says: levels, or why there is none. @param {any} call @returns {Child[]} */
function levelsOf({ outcome, levels }) {
  if (outcome !== "ok") return [h("span", { class: "tag bad" }, `no vote: ${outcome}`)];
  if (!levels) return [h("span", { class: "quiet-text" }, "answer not stored")];
  return Object.entries(levels).map(([name, level]) => h("span", { class: "said reported" }, `${name.replaceAll("_", " ")} `, h("b", {}, level === null ? "abstained" : String(level))));
}

/** @param {import("../../segments/found.js").Name} name @param {any} detail  null while it is being read @param {HTMLElement} buttons */
export function headOf(name, detail, buttons) {
  const place = found.place(name.segment_id);
  const where = place ? h("span", { class: "quiet-text reported" }, `${count(place.at)} of ${count(place.of)}${place.more ? "+" : ""} in the list`) : null;
  return h("div", {},
    h("div", { class: "segment-name" }, idOf(name.segment_id, "the segment's id"), where, buttons),
    facts(detail ? known(detail) : waiting(), "segment-facts"));
}

const TERMS = ["Captured", "Selected for", "Milestones", "Rooms", "Run", "At step", "Length", "Reward model", "Model vs. judges"];

const waiting = () => TERMS.map((term) => [term, UNKNOWN]);

function known({ segment: row, manifest, capture, capture_problem: problem }) {
  const why = problem ?? "";
  const version = capture?.reward_model_version ?? row?.reward_model_version ?? null;
  return [
    ["Captured", row?.captured_at ? ago(row.captured_at) : ago(manifest.created_at, { prefix: "exported " })],
    ["Selected for", capture ? (REASONS[capture.selected_by] ?? capture.selected_by) : UNKNOWN, why],
    ["Milestones", capture?.milestones ? (capture.milestones.length ? capture.milestones.map(inWords).join(", ") : "none") : UNKNOWN, why],
    ["Rooms", capture?.rooms ? h("span", { class: "reported" }, capture.rooms.map(roomName).join(" → ")) : UNKNOWN, capture?.rooms?.map((/** @type {any} */ { group, room }) => `${group}:${hex(room)}`).join(" → ") ?? why],
    ["Run", idOf(manifest.run_id, "the run's id")],
    ["At step", fig("segment.manifest.env_step", count(manifest.env_step)), "Decisions of the run until then"],
    ["Length", h("span", {}, fig("segment.manifest.decision_steps", count(manifest.decision_steps)), " emulator steps, ", fig("segment.manifest.frames", count(manifest.frames)), " game frames"), `${duration(secondsOf(manifest.frames))}, waiting included`],
    ["Reward model", version === null ? "none" : h("a", { href: `/models/${version}`, "data-figure": capture ? "segment.capture.reward_model_version" : "segment.segment.reward_model_version" }, `v${version}`)],
    ["Model vs. judges", gapOf(row)],
  ];
}

function gapOf(row) {
  if (!row || row.model_gap === null) return h("span", { title: "Too few scored segments of this version, or no model was in use" }, UNKNOWN);
  const title = `Ranks from 0 to 1 among ${row.model_gap_of} segments of this version: model minus judges`;
  return h("span", { title }, fig("segment.segment.model_gap", reward(row.model_gap)), " of ", fig("segment.segment.model_gap_of", count(row.model_gap_of)), " ranked");
}
