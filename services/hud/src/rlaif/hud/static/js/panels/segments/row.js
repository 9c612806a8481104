// One segment in the list: what it is worth, who said so, and why it is here.

import { ago } from "../../clock.js";
import { h } from "../../dom.js";
import { compact, count, percent, reward, UNKNOWN } from "../../format.js";
import { bar01, fig } from "../../parts.js";
import { addressOfSegment } from "../../segments/found.js";
import { inWords, REASONS, roomName, short } from "../../segments/names.js";

const ROOMS = 3;

export const HEADS = ["Segment", "Score", "Agreement", "Model vs. judges", "Selected for", "Content", "Step", "Rationale"];

/** What changes the look of a row. @param {any} row */
export const versionOf = (row) => `${row.segment_id} ${row.scored_at} ${row.score !== null} ${row.score_problem} ${row.model_gap}`;

/** @param {any} row */
export function rowOf(row) {
  const field = (/** @type {string} */ name) => `segment-list.${row.segment_id}.${name}`;
  const cell = (/** @type {string} */ label, /** @type {import("../../dom.js").Child[]} */ ...children) => h("td", { "data-label": label }, ...children);
  return h("tr", { "data-segment": row.segment_id },
    h("td", {}, h("a", { class: "open reported", href: addressOfSegment(row), title: row.segment_id }, short(row.segment_id)), h("small", {}, when(row))),
    h("td", { class: "score", "data-label": "Score" }, ...bar01(field("weighted"), row.weighted, { kind: "weighted", title: row.scored_at ? null : "Not judged yet" })),
    cell("Agreement", fig(field("votes_agreement"), percent(row.votes_agreement), "Mean over the criteria decided by votes")),
    cell("Model vs. judges", ...gapOf(row, field)),
    cell("Selected for", row.selected_by ? (REASONS[row.selected_by] ?? row.selected_by) : UNKNOWN, row.reward_model_version ? h("small", {}, fig(field("reward_model_version"), `v${row.reward_model_version}`), " was live") : null),
    h("td", { class: "shows", "data-label": "Content" }, ...(row.milestones ?? []).map((/** @type {string} */ name) => h("span", { class: "tag good reported" }, inWords(name))), h("span", { class: "reported" }, placesOf(row))),
    cell("Step", fig(field("env_step"), compact(row.env_step), row.env_step === null ? null : count(row.env_step))),
    wordsOf(row));
}

/** Of the newest segments only: the others have theirs on their own page. @param {any} row */
function wordsOf({ score, score_problem: problem }) {
  const first = score?.rationales[0];
  const text = problem ?? first?.text ?? "";
  return h("td", { class: "rationale" }, h("span", { title: first ? `${first.judge}: ${text}` : null }, text));
}

/** @param {any} row */
function when(row) {
  if (row.scored_at) return ago(row.scored_at, { prefix: "judged " });
  if (row.exported_at) return ago(row.exported_at, { prefix: "waiting for judges since ", suffix: "" });
  return ago(row.captured_at, { prefix: "captured " });
}

/** @param {any} row @param {(name: string) => string} field @returns {import("../../dom.js").Child[]} */
function gapOf({ model_gap: gap, model_gap_of: of }, field) {
  if (gap === null) return [h("span", { title: "No model was live, or too few scored segments of it" }, UNKNOWN)];
  const who = gap > 0 ? "model ranks it higher" : gap < 0 ? "judges rank it higher" : "same rank";
  return [fig(field("model_gap"), reward(gap), `Ranks from 0 to 1 among ${of} segments of this version: model minus judges`), h("small", {}, who)];
}

/** @param {any} row */
function placesOf({ rooms, room_names: known }) {
  if (!rooms) return UNKNOWN;
  const names = rooms.map((/** @type {[number, number]} */ [group, room], /** @type {number} */ at) => roomName({ group, room, name: known?.[at] }));
  const more = names.length > ROOMS ? ` and ${names.length - ROOMS} more` : "";
  return names.slice(0, ROOMS).join(" → ") + more;
}
