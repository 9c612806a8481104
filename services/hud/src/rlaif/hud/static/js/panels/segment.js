// One segment in a dialog: all pictures, all criteria, all words.

import { byId, h, show } from "../dom.js";
import { count, decimal, duration, percent } from "../format.js";
import { bar01, CRITERIA, decided, decidedBy, empty, facts, questOf, whyUnknown, words } from "../parts.js";

export async function openSegment(row) {
  byId("segment-title").querySelector("code").textContent = row.segment_id;
  show(byId("segment-body"), empty("Reading it from the store."));
  byId("segment").showModal();
  try {
    const answer = await fetch(`/api/v1/segments/${row.episode_id}/${row.segment_id}`);
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.detail ?? body.title);
    show(byId("segment-body"), ...content(row, body));
  } catch (error) {
    show(byId("segment-body"), empty(`It cannot be read now: ${error.message}`));
  }
}

function content(row, { manifest, score, calls, pictures, score_problem }) {
  const known = { ...row, score };
  return [
    h("div", { class: "pictures" }, ...pictures.map(({ url, step }) => h("img", { src: url, width: 112, height: 101, loading: "lazy", alt: `Screen after decision ${step ?? "?"}` }))),
    facts([
      ["Score", decimal(row.weighted)],
      ["Agreement", percent(score?.agreement)],
      ["Calls ok", score ? `${count(score.calls_ok)}/${count(score.calls)}` : "—"],
      ["Decisions", count(manifest.decision_steps)],
      ["Frames", count(manifest.frames)],
      ["Run step", count(manifest.env_step)],
    ], "three"),
    questOf(known),
    h("p", {}, decided(known)),
    h("ul", { class: "criteria told-by" }, ...CRITERIA.map((name) => criterion(known, name))),
    score_problem ? empty(score_problem) : null,
    words(calls.filter(({ rationale }) => rationale).map((call) => ({ judge: `${call.judge} · ${call.model} · vote ${call.vote} · ${call.outcome} · ${duration(call.latency_seconds)}`, text: call.rationale }))),
  ];
}

function criterion(row, name) {
  const score = row.score?.criteria[name];
  const by = decidedBy(score);
  return h("li", {}, h("span", {}, name, ...(by ? [" ", h("small", {}, by)] : [])), ...bar01(null, score?.value ?? null, { title: whyUnknown(row, name), source: by }));
}
