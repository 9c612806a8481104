// One version: its state and record, and actions on it.

import { ago } from "../../../clock.js";
import { h, show } from "../../../dom.js";
import { compact, count, percent } from "../../../format.js";
import { from, listed } from "../../../parts.js";
import { activate, pinIt, unpinIt } from "../change.js";
import { settingsOf } from "../compare.js";
import { accuracy, MODELS, named, shortId } from "../figures.js";
import { loadsOf } from "../versions.js";

/** @param {number} version @param {import("../../../answer.js").Answer} answer  with its record @returns {import("../../../panel.js").Panel} */
export const head = (version, answer) => ({
  id: "model-head",
  title: "Reward model",
  mount(body, app, scope) {
    let drawn = "";
    const draw = () => {
      const models = app.store.state.reward_models;
      const row = models?.published.find((/** @type {any} */ each) => each.version === version);
      const key = JSON.stringify([answer.value, answer.problem?.title, models?.champion?.version, models?.champion?.pinned, row]);
      if (key === drawn) return; // what has the focus keeps it
      drawn = key;
      show(body, answer.content((manifest) => content(manifest, row, models, app), `Loading v${version}…`));
    };
    answer.watch(draw);
    scope.add(app.store.watch(["reward_models"], draw));
  },
});

/** @param {any} manifest @param {any} row  of the snapshot @param {any} models @param {import("../../../app.js").App} app */
function content(manifest, row, models, app) {
  const { version, parent_version: parent } = manifest;
  const children = (models?.published ?? []).filter((/** @type {any} */ each) => each.parent_version === version).map((/** @type {any} */ each) => each.version);
  const networks = [manifest.spec.inputs, ...manifest.spec.hidden, 1].join("–");
  return h("div", {},
    h("p", { class: "live-line" }, h("b", {}, from(`${MODELS}/${version}`, "version", `v${version}`)), " ", ...stateOf(row, models), ...buttons(version, models, app)),
    h("dl", { class: "facts wide" },
      fact("Held-out pairs, at training time", accuracyOf(version, manifest)),
      fact("Training pairs", figure(version, "metrics.train_accuracy", manifest.metrics.train_accuracy, percent)),
      fact("Trained on", figure(version, "labels", manifest.labels), " labels of ", figure(version, "episodes", manifest.episodes), " episodes, ", figure(version, "preferences", manifest.preferences), " pairs"),
      fact("Human labels and comparisons", ...byPeople(version, manifest.lineage)),
      fact("Lineage", parent === null ? "first version" : h("a", { href: `/models/${parent}` }, "from ", figure(version, "parent_version", parent, (/** @type {number} */ value) => `v${value}`)),
        ...children.flatMap((/** @type {number} */ child) => [", then ", h("a", { href: `/models/${child}` }, named(child))])),
      fact("Published", ago(manifest.created_at)),
      fact("Loaded", ...(row ? loadsOf(row) : ["—"])),
      fact("File", shortId(manifest.model_sha256)),
      fact("Networks", figure(version, "spec.members", manifest.spec.members), " of ", h("code", {}, `${networks} ${manifest.spec.activation}`))));
}

/** @param {string} term @param {...import("../../../dom.js").Child} children */
const fact = (term, ...children) => h("div", {}, h("dt", {}, term), h("dd", {}, ...children));

/** @param {number} version @param {string} name @param {any} value @param {(value: any) => string} [text] */
const figure = (version, name, value, text = count) => from(`${MODELS}/${version}`, name, text(value));

/** @param {number} version @param {any} lineage  null of an older writer */
function byPeople(version, lineage) {
  if (!lineage) return ["—"];
  const part = (/** @type {string} */ name, /** @type {string} */ text) => (typeof lineage[name] === "number" ? [h("span", {}, figure(version, `lineage.${name}`, lineage[name]), text)] : []);
  const parts = [...part("overrides", " labels"), ...part("votes", " pairs, blind"), ...part("comparisons", " pairs compared side by side by judges")];
  return listed(parts);
}

/** @param {number} version @param {any} manifest */
function accuracyOf(version, { metrics }) {
  const { heldout_accuracy: value, heldout_accuracy_low: low, heldout_accuracy_high: high, heldout_pairs: pairs } = metrics;
  const path = `${MODELS}/${version}`;
  return accuracy(path, "metrics.heldout_", { value, low, high, pairs }, { names: { value: "accuracy", low: "accuracy_low", high: "accuracy_high", pairs: "pairs" } });
}

/** @param {any} row @param {any} models */
function stateOf(row, models) {
  if (!row) return [h("span", { class: "quiet-text" }, "No event seen.")];
  if (row.champion) return [h("b", { class: "good-text" }, "★ live"), models.champion?.pinned ? h("span", { class: "tag warn" }, "⚲ pinned") : null, row.in_use ? h("span", { class: "tag purple" }, "in use") : null];
  return [h("span", {}, "not live"), row.in_use ? h("span", { class: "tag purple" }, "still in use by the trainer") : null];
}

/** @param {number} version @param {any} models @param {import("../../../app.js").App} app */
function buttons(version, models, app) {
  const button = (/** @type {string} */ text, /** @type {() => void} */ run) => h("button", { type: "button", onclick: run }, text);
  const live = models?.champion?.version ?? null;
  const compared = live !== null && live !== version ? h("a", { class: "button", href: `/models?compare=${live},${version}` }, h("span", {}, "Compare with ", named(live))) : null;
  if (live !== version) return [" ", compared, button("Make live…", () => activate(app, version, live))];
  return [" ", models.champion.pinned ? button("Unpin…", () => unpinIt(app, version)) : button("Pin…", () => pinIt(app, version))];
}

/** What a version was trained with: judges, prompts, labels, settings. @param {any} manifest */
export function madeOf(manifest) {
  const { lineage, version } = manifest;
  const settings = [...settingsOf(lineage?.settings)];
  return h("div", {},
    h("dl", { class: "facts wide" },
      fact("Judge configuration", shortId(manifest.judge_config)),
      fact("Judge models", lineage ? lineage.models.join(", ") || "none" : "—"),
      fact("Judge prompts", ...(lineage?.rubrics.length ? lineage.rubrics.map((/** @type {string} */ digest) => shortId(digest)) : ["—"])),
      fact("Labels", shortId(manifest.label_digest), lineage ? h("span", {}, "· ", figure(version, "lineage.duplicates", lineage.duplicates), " near-duplicates merged") : null),
      fact("Newest label", lineage ? h("span", {}, "step ", figure(version, "lineage.newest_env_step", lineage.newest_env_step, compact)) : "—"),
      fact("Statistic", lineage?.statistic ?? "—"),
      fact("Seed", figure(version, "seed", manifest.seed))),
    settings.length ? h("details", {}, h("summary", {}, "Settings of training and gate"),
      h("dl", { class: "settings" }, ...settings.map(([name, text]) => h("div", {}, h("dt", {}, h("code", {}, name)), h("dd", {}, h("code", {}, text)))))) : null);
}
