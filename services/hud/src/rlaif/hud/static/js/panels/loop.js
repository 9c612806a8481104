// Pipeline: number of segments by stage.

import { h, show } from "../dom.js";
import { ago, secondsSince } from "../clock.js";
import { compact, count, timeOfDay, UNKNOWN } from "../format.js";
import { fig } from "../parts.js";
import { drawServices } from "./services.js";

const FRESH_SECONDS = 10;

function draw(body, { loop, reward_models: models }) {
  show(body,
    station("Captured", number("captured", loop.captured), when(loop.captured_at, "no segment yet"), loop.captured_at),
    station("Exported", number("exported", loop.exported), when(loop.exported_at, "none exported yet"), loop.exported_at),
    station("Scored", number("scored", loop.scored), scored(loop), loop.scored_at),
    station("Reward model", version("champion_version", loop.champion_version), published(loop, models?.champion), loop.published_at),
    station("Trainer uses", version("loaded_version", loop.loaded_version), loaded(loop), null),
  );
}

function station(label, value, sub, at) {
  const fresh = at !== null && secondsSince(at) < FRESH_SECONDS;
  return h("li", { "data-fresh": fresh ? "yes" : "no" }, h("p", { class: "label" }, label), h("p", { class: "value" }, value), h("p", { class: "sub" }, ...sub));
}

const number = (name, value) => fig(`loop.${name}`, count(value), `${count(value)} segments`);
const version = (name, value) => fig(`loop.${name}`, value === null ? UNKNOWN : `v${value}`);
const when = (at, none) => (at === null ? [none] : [ago(at, { prefix: "last " })]);

function scored(loop) {
  const without = loop.without_score ? [", ", fig("loop.without_score", count(loop.without_score)), " without score"] : [];
  return [...when(loop.scored_at, "none scored yet"), ...without];
}

function published(loop, champion) {
  if (loop.champion_version === null) return ["none published yet"];
  const last = loop.published_at === null ? [] : [ago(loop.published_at)];
  if (champion?.pinned) return [h("b", { class: "attention", title: champion.pin_reason }, ...pinnedUntil(champion)), ...back(champion)];
  if (champion?.went_back_from) return [h("b", { class: "attention" }, ...back(champion).slice(1)), " ", ...last];
  const many = [fig("loop.published", count(loop.published)), loop.published === 1 ? " version" : " versions"];
  return last.length ? [...many, ", last ", ...last] : many;
}

const back = (champion) => (champion.went_back_from ? [", ", "rolled back from ", fig("reward_models.champion.went_back_from", `v${champion.went_back_from}`)] : []);

/** "pinned until 12:30:05", or "pinned" when a person has to unpin it. */
export const pinnedUntil = ({ pinned_until: end }) => (end ? ["pinned until ", h("time", { datetime: end }, timeOfDay(end))] : ["pinned"]);

function loaded(loop) {
  if (loop.loaded_version === null) return ["no reward model yet"];
  if (loop.loaded_at_step === null) return ["since an unknown step"];
  return ["since step ", fig("loop.loaded_at_step", compact(loop.loaded_at_step), `step ${count(loop.loaded_at_step)}`)];
}

function mount(body, app, scope) {
  const list = h("ul", { class: "services", id: "services", "aria-label": "Services" });
  const title = body.parentElement.querySelector("h2");
  const head = h("div", { class: "loop-head" });
  title.replaceWith(head);
  head.append(title, list);
  scope.add(app.store.watch(["services", "health"], (state) => drawServices(list, state)));
  scope.every(5000, () => app.store.known && draw(body, app.store.state)); // marks of fresh stations fade
}

/** @type {import("../panel.js").Panel} */
export const loop = { id: "loop", title: "Pipeline", tag: "ol", sections: ["loop", "reward_models"], mount, draw };
