// Reward models: which is live and what the next one waits for, every version, refused candidates.

import { byId, h, show } from "../dom.js";
import { ago } from "../clock.js";
import { compact, count, percent } from "../format.js";
import { empty, fig } from "../parts.js";
import { pinnedUntil } from "./loop.js";

const REJECTED_SHOWN = 5;
const LOADS_SHOWN = 3;
const RANKERS = [
  ["best_slot_accuracy", "best single number", "The one number of the observation that ranks best"],
  ["ridge_accuracy", "linear fit", "Ridge regression on the same numbers"],
];

export function drawModels({ reward_models: models }) {
  const scrolled = byId("models").querySelector(".scroll")?.scrollTop ?? 0;
  show(byId("models"), ...[champion(models.champion), passed(models.champion), next(models.next)].filter(Boolean), ...history(models));
  const list = byId("models").querySelector(".scroll");
  if (list) list.scrollTop = scrolled;
}

function champion(live) {
  if (!live || !(live.pinned || live.went_back_from)) return null;
  return h("p", { class: "notice" },
    h("b", {}, "Champion ", fig("reward_models.champion.version", `v${live.version}`)),
    live.went_back_from ? h("span", {}, ": went back from ", fig("reward_models.champion.went_back_from", `v${live.went_back_from}`), live.since ? " " : "", live.since ? ago(live.since) : "") : null,
    live.pinned ? h("span", {}, "; ", ...pinnedUntil(live)) : null,
    live.pinned && live.pin_reason ? h("span", { class: "quiet-text told" }, ` — ${live.pin_reason}`) : null);
}

/** How well the champion's pay ranks held-out pairs, beside what needs no learning; what is not told is left out. */
function passed(live) {
  const gate = live?.gate;
  const known = (name) => typeof gate?.[name] === "number";
  if (!known("paid_accuracy")) return null;
  const figure = (name) => fig(`reward_models.champion.gate.${name}`, percent(gate[name]));
  const others = RANKERS.filter(([name]) => known(name)).flatMap(([name, text, title]) => [", ", h("span", { title }, `${text} `, figure(name))]);
  return h("p", { class: "next", title: "Held-out pairs of whole episodes, decided by the judges" },
    fig("reward_models.champion.version", `v${live.version}`), " ranks judged pairs: ", h("span", { title: "By exactly what the trainer pays for these segments" }, "by its pay ", h("b", {}, figure("paid_accuracy"))), ...others,
    ", chance ", h("span", { class: "scale" }, "50 %"),
    ...(known("llm_only_share") ? ["; ", figure("llm_only_share"), " of the pairs hang on what no counter in the game's memory says"] : []));
}

function next(model) {
  if (!model) return null;
  if (model.state === "training") return h("p", { class: "next" }, "Next model: trains now on ", fig("reward_models.next.labels", count(model.labels)), " labels");
  if (!model.missing.length) return null;
  const parts = model.missing.map(({ what, have, need }) => h("span", {},
    fig(`reward_models.next.missing.${what}.have`, count(have)), " of ", fig(`reward_models.next.missing.${what}.need`, count(need)), ` ${what}`));
  return h("p", { class: "next" }, "Next model: ", ...parts.flatMap((part, index) => (index ? [", ", part] : [part])));
}

function history(models) {
  if (!models.published.length && !models.rejected.length) return [empty("No reward model yet. The first one is trained when enough segments are scored, and published when it passes the gate.")];
  const list = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Reward models" },
    h("ol", {}, ...models.published.map(publishedRow), ...models.rejected.slice(0, REJECTED_SHOWN).map(rejectedRow)));
  if (models.rejected_count <= REJECTED_SHOWN) return [list];
  return [list, h("p", { class: "sub" }, fig("reward_models.rejected_count", count(models.rejected_count)), ` candidates were rejected; the newest are shown.`)];
}

function publishedRow(row) {
  const figure = (name, text) => fig(`reward_models.published.${row.version}.${name}`, text(row[name]));
  return h("li", { class: "version" },
    h("span", { class: "name" }, figure("version", (version) => `v${version}`)),
    h("span", {}, "held-out ", h("b", {}, figure("heldout_accuracy", percent)), h("span", { class: "quiet-text" }, " of ", figure("heldout_pairs", count), " pairs"),
      row.champion ? h("span", { class: "tag good" }, "★ champion") : null,
      row.in_use ? h("span", { class: "tag purple" }, "in use") : null),
    h("span", { class: "quiet-text" }, ago(row.published_at)),
    h("span", { class: "more" }, figure("labels", count), " labels from ", figure("episodes", count), " episodes", ...loads(row),
      ...(row.parent_version === null ? [", first version"] : [", after ", figure("parent_version", (version) => `v${version}`)])));
}

/** ", loaded at step 4.1K, again at 8.2K"; of many loads the newest. */
function loads({ version, loaded_at_steps: steps }) {
  const step = (value, index) => fig(`reward_models.published.${version}.loaded_at_steps.${index}`, compact(value), `step ${count(value)}`);
  if (!steps.length) return [];
  if (steps.length > LOADS_SHOWN) return [", loaded ", fig(`reward_models.published.${version}.loaded_at_steps.length`, count(steps.length)), " times, last at step ", step(steps.at(-1), steps.length - 1)];
  return steps.flatMap((value, index) => [index ? ", again at " : ", loaded at step ", step(value, index)]);
}

function rejectedRow(row) {
  const figure = (name, text) => fig(`reward_models.rejected.${row.candidate_id}.${name}`, text(row[name]));
  return h("li", { class: "version", "data-state": "rejected" },
    h("span", { class: "name", "aria-hidden": "true" }, "✕"),
    h("span", {}, h("code", {}, row.candidate_id), h("span", { class: "tag plain" }, "rejected")),
    h("span", { class: "quiet-text" }, ago(row.rejected_at)),
    h("span", { class: "more" }, h("span", { class: "told" }, row.reasons.join("; ")), h("br"), figure("labels", count), " labels from ", figure("episodes", count), " episodes, held-out ", figure("heldout_accuracy", percent)));
}
