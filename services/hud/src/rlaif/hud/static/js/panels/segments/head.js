// What a segment is: ids, when and why it was captured, what it shows.

import { ago } from "../../clock.js";
import { h } from "../../dom.js";
import { count, duration, hex, reward, UNKNOWN } from "../../format.js";
import { facts, fig } from "../../parts.js";
import { found } from "../../segments/found.js";
import { idOf, inWords, REASONS, roomName } from "../../segments/names.js";
import { secondsOf } from "../../segments/playback.js";

/** @param {import("../../segments/found.js").Name} name @param {any} detail  null while it is being read @param {HTMLElement} buttons */
export function headOf(name, detail, buttons) {
  const place = found.place(name.segment_id);
  const where = place ? h("span", { class: "quiet-text reported" }, `${count(place.at)} of ${count(place.of)}${place.more ? "+" : ""} in the list`) : null;
  return h("div", {},
    h("div", { class: "segment-name" }, idOf(name.segment_id, "the segment's id"), where, buttons),
    facts(detail ? known(detail) : waiting(), "segment-facts"));
}

const TERMS = ["Captured", "Selected for", "Milestones", "Rooms", "Run", "At step", "Length", "Live model", "Model vs. judges"];

const waiting = () => TERMS.map((term) => [term, UNKNOWN]);

/** @param {any} detail */
function known({ segment: row, manifest, capture, capture_problem: problem }) {
  const why = problem ?? "";
  const version = capture?.reward_model_version ?? row?.reward_model_version ?? null;
  return [
    ["Captured", row?.captured_at ? ago(row.captured_at) : ago(manifest.created_at, { prefix: "exported " })],
    ["Selected for", capture ? (REASONS[capture.selected_by] ?? capture.selected_by) : UNKNOWN, why],
    ["Milestones", capture?.milestones ? (capture.milestones.length ? capture.milestones.map(inWords).join(", ") : "none") : UNKNOWN, why],
    ["Rooms", capture?.rooms ? h("span", { class: "reported" }, capture.rooms.map(roomName).join(" → ")) : UNKNOWN, capture?.rooms?.map((/** @type {any} */ { group, room }) => `${group}:${hex(room)}`).join(" → ") ?? why],
    ["Run", idOf(manifest.run_id, "the run's id")],
    ["At step", fig("segment.manifest.env_step", count(manifest.env_step)), "Environment step of the run"],
    ["Length", h("span", {}, fig("segment.manifest.decision_steps", count(manifest.decision_steps)), " steps, ", fig("segment.manifest.frames", count(manifest.frames)), " game frames"), `${duration(secondsOf(manifest.frames))}, waiting included`],
    ["Live model", version === null ? "none" : h("a", { href: `/models/${version}`, "data-figure": capture ? "segment.capture.reward_model_version" : "segment.segment.reward_model_version" }, `v${version}`)],
    ["Model vs. judges", gapOf(row)],
  ];
}

/** @param {any} row */
function gapOf(row) {
  if (!row || row.model_gap === null) return h("span", { title: "Too few scored segments of this version, or no model was live" }, UNKNOWN);
  const title = `Ranks from 0 to 1 among ${row.model_gap_of} segments of this version: model minus judges`;
  return h("span", { title }, fig("segment.segment.model_gap", reward(row.model_gap)), " of ", fig("segment.segment.model_gap_of", count(row.model_gap_of)), " ranked");
}
