// The newest scored segment: its pictures, its numbers, and the judges' words.

import { byId, h, show } from "../dom.js";
import { ago } from "../clock.js";
import { count, decimal, percent, UNKNOWN } from "../format.js";
import { bar01, CRITERIA, decided, decidedBy, empty, fig, questOf, whyUnknown, words } from "../parts.js";
import { openSegment } from "./segment.js";

const PICTURES = 4;
let pictures = { id: null, urls: [] };
let drawn = null; // what is shown, so that the same verdict is not drawn again under the reader's hands

export function drawVerdict({ segments, loop }) {
  const row = segments[0];
  if (!row) {
    drawn = null;
    show(byId("verdict"), waiting(loop));
    return;
  }
  const version = `${row.segment_id} ${row.scored_at} ${row.score !== null} ${row.score_problem}`;
  if (version === drawn) return;
  drawn = version;
  if (pictures.id !== row.segment_id) loadPictures(row);
  show(byId("verdict"),
    h("div", { class: "verdict-head" },
      h("span", { class: "big", title: "Rubric mean, 0 to 1", "data-figure": `segments.${row.segment_id}.weighted` }, decimal(row.weighted)),
      h("span", { class: "scale" }, row.weighted === null ? "no score: too little was judged" : "of 1"),
      row.score ? h("span", { class: "quiet-text" }, "agreement ", fig(`segments.${row.segment_id}.score.agreement`, percent(row.score.agreement))) : null,
      decided(row),
      h("span", { class: "quiet-text" }, ago(row.scored_at))),
    questOf(row),
    row.score ? h("ul", { class: "criteria told-by" }, ...CRITERIA.map((name) => criterion(row, name))) : empty(row.score_problem),
    h("div", { class: "pictures" }, ...pictures.urls.map(picture)),
    row.score ? words(row.score.rationales) : null,
    h("p", { class: "open-segment" }, h("button", { type: "button", class: "quiet", onclick: () => openSegment(row) }, "Open this segment")));
}

function criterion(row, name) {
  const score = row.score?.criteria[name];
  const title = score ? `${score.votes.length} votes: ${score.votes.join(", ")} of 2; agreement ${percent(score.agreement)}; ${score.judge}` : whyUnknown(row, name);
  const by = decidedBy(score);
  return h("li", {}, h("span", {}, name, ...(by ? [" ", h("small", {}, by)] : [])), ...bar01(`segments.${row.segment_id}.score.criteria.${name}.value`, score?.value ?? null, { title, source: by }));
}

function waiting(loop) {
  if (!loop || loop.exported === null) return empty(`Scores: ${UNKNOWN}`);
  if (loop.scored > 0) return empty("The newest scores are being read from the store.");
  if (loop.exported > 0) return empty("No score yet. ", fig("loop.exported", count(loop.exported)), " exported segments wait for the judges; the first score comes when their calls return.");
  return empty("No score yet. The judges start when the first segment is captured and exported.");
}

async function loadPictures(row) {
  pictures = { id: row.segment_id, urls: [] };
  try {
    const answer = await fetch(`/api/v1/segments/${row.episode_id}/${row.segment_id}`);
    if (!answer.ok) return;
    const all = (await answer.json()).pictures;
    const stride = Math.max(1, Math.ceil(all.length / PICTURES));
    if (pictures.id !== row.segment_id) return;
    pictures.urls = all.filter((_, index) => index % stride === 0).slice(0, PICTURES);
    byId("verdict").querySelector(".pictures")?.replaceChildren(...pictures.urls.map(picture));
  } catch (error) {
    console.warn("pictures of the newest segment could not be read", error);
  }
}

const picture = ({ url, step }) => h("img", { src: url, width: 112, height: 101, alt: step === null ? "Picture of the segment" : `Screen after decision ${step}` });
