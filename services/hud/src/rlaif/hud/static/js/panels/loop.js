// The loop: where the segments are on their way around the ring.

import { byId, h, show } from "../dom.js";
import { ago, secondsSince } from "../clock.js";
import { compact, count, UNKNOWN } from "../format.js";

const FRESH_SECONDS = 10;

export function drawLoop({ loop }) {
  show(byId("loop"),
    station("Captured", number(loop.captured), when(loop.captured_at, "no segment yet"), loop.captured_at),
    station("Exported", number(loop.exported), when(loop.exported_at, "none replayed yet"), loop.exported_at),
    station("Scored", number(loop.scored), scored(loop), loop.scored_at),
    station("Reward model", version(loop.champion_version), published(loop), loop.published_at),
    station("Trainer uses", version(loop.loaded_version), loaded(loop), null),
  );
}

function station(label, value, sub, at) {
  const fresh = at !== null && secondsSince(at) < FRESH_SECONDS;
  return h("li", { "data-fresh": fresh ? "yes" : "no" }, h("p", { class: "label" }, label), h("p", { class: "value" }, value), h("p", { class: "sub" }, ...sub));
}

const number = (value) => h("span", { title: `${count(value)} segments` }, count(value));
const version = (value) => (value === null ? UNKNOWN : `v${value}`);
const when = (at, none) => (at === null ? [none] : [ago(at, { prefix: "last " })]);

function scored(loop) {
  const without = loop.without_score ? `, ${count(loop.without_score)} without score` : "";
  return [...when(loop.scored_at, "none judged yet"), without];
}

function published(loop) {
  if (loop.champion_version === null) return ["none published yet"];
  const text = loop.published === 1 ? "1 version, " : `${count(loop.published)} versions, `;
  return [text, ago(loop.published_at, { prefix: "last " })];
}

function loaded(loop) {
  if (loop.loaded_version === null) return ["no reward model yet"];
  if (loop.loaded_at_step === null) return ["since an unknown step"];
  return [h("span", { title: `step ${count(loop.loaded_at_step)}` }, `since step ${compact(loop.loaded_at_step)}`)];
}
