// The newest scored segment: its pictures, its numbers, and the judges' words.

import { h, show } from "../dom.js";
import { ago, count, decimal, percent, UNKNOWN } from "../format.js";
import { bar01, CRITERIA, decided, decidedBy, empty, fig, questOf, whyUnknown, words } from "../parts.js";
import { addressOfSegment } from "../routes.js";

const PICTURES = 4;

/** `place` is what is shown, so that the same verdict is not drawn again while it is read. */
function draw(body, place, { segments, loop }, app) {
  const row = segments[0];
  if (!row) {
    place.version = null;
    show(body, waiting(loop));
    return;
  }
  const version = `${row.segment_id} ${row.scored_at} ${row.score !== null} ${row.score_problem}`;
  if (version === place.version) return;
  place.version = version;
  if (place.id !== row.segment_id) loadPictures(body, row, place, app);
  show(body,
    h("div", { class: "verdict-head" },
      h("span", { class: "big", title: "Rubric mean, 0 to 1", "data-figure": `segments.${row.segment_id}.weighted` }, decimal(row.weighted)),
      h("span", { class: "scale" }, row.weighted === null ? "no score: too few criteria" : "of 1"),
      row.score ? h("span", { class: "quiet-text" }, "agreement ", fig(`segments.${row.segment_id}.score.agreement`, percent(row.score.agreement))) : null,
      decided(row),
      h("span", { class: "quiet-text" }, ago(row.scored_at))),
    questOf(row),
    row.score ? h("ul", { class: "criteria" }, ...CRITERIA.map((name) => criterion(row, name))) : empty(row.score_problem),
    h("div", { class: "pictures" }, ...place.urls.map(picture)),
    row.score ? words(row.score.rationales) : null,
    h("p", { class: "open-segment" }, h("a", { class: "button", href: addressOfSegment(row) }, "Open this segment")));
}

function mount(body, app) {
  const place = { version: null, id: null, urls: [] };
  return (/** @type {any} */ state) => draw(body, place, state, app);
}

function criterion(row, name) {
  const score = row.score?.criteria[name];
  const title = score ? `${score.votes.length} votes: ${score.votes.join(", ")} of 2; agreement ${percent(score.agreement)}; ${score.judge}` : whyUnknown(row, name);
  const by = decidedBy(score);
  return h("li", {}, h("span", {}, name, ...(by ? [" ", h("small", {}, by)] : [])), ...bar01(`segments.${row.segment_id}.score.criteria.${name}.value`, score?.value ?? null, { title, source: by }));
}

function waiting(loop) {
  if (!loop || loop.exported === null) return empty(`Scores: ${UNKNOWN}`);
  if (loop.scored > 0) return empty("Loading the latest scores.");
  if (loop.exported > 0) return empty("No score yet. ", fig("loop.exported", count(loop.exported)), " exported segments are waiting for the judges.");
  return empty("No score yet. Judging starts once the first segment is captured and exported.");
}

async function loadPictures(body, row, place, app) {
  place.id = row.segment_id;
  place.urls = [];
  try {
    const { pictures: all } = await app.api.get(`/api/v1${addressOfSegment(row)}`);
    const stride = Math.max(1, Math.ceil(all.length / PICTURES));
    if (place.id !== row.segment_id) return;
    place.urls = all.filter((_, index) => index % stride === 0).slice(0, PICTURES);
    body.querySelector(".pictures")?.replaceChildren(...place.urls.map(picture));
  } catch (error) {
    console.warn("could not load the pictures of the latest segment", error);
  }
}

const picture = ({ url, step }) => h("img", { src: url, width: 112, height: 101, alt: step === null ? "Picture of the segment" : `Screen after step ${step}` });

/** @type {import("../parts.js").Panel} */
export const verdict = { id: "verdict", title: "Latest score", sections: ["segments", "loop"], mount };
