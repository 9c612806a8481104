// One version: what it is, where it stands in the lineage, what became of it; make it live.

import { Answer, whyNot } from "../../../answer.js";
import { ago } from "../../../clock.js";
import { h, show } from "../../../dom.js";
import { compact, count, percent } from "../../../format.js";
import { empty } from "../../../parts.js";
import { activate, pinIt, unpinIt } from "../change.js";
import { MODELS, accuracy, from, named, shortId } from "../figures.js";

/** @param {number} version @returns {import("../../../panel.js").Panel} */
export function head(version) {
  const path = `${MODELS}/${version}`;
  /** @type {any} */
  let models = null;
  /** @type {Answer<any> | null} */
  let answer = null;
  let asked = "";
  return {
    id: "model-head",
    title: "Reward model",
    sections: ["reward_models"],
    mount(body, app, scope) {
      answer = new Answer(app, scope, (got) => show(body, ...drawn(got, version, models, app, () => answer?.ask())));
      void answer.ask(path);
    },
    draw(body, state, app) {
      models = state.reward_models;
      const row = models.published.find((/** @type {any} */ each) => each.version === version);
      const key = JSON.stringify([models.champion?.version, models.champion?.pinned, row?.in_use, row?.loaded_at_steps]);
      if (key === asked) return;
      asked = key;
      if (answer?.value) void answer.ask();
      else if (answer) show(body, ...drawn(answer, version, models, app, () => answer?.ask()));
    },
  };
}

/** @param {{value: any, problem: any}} got @param {number} version @param {any} models @param {import("../../../app.js").App} app @param {() => void} again */
function drawn({ value, problem }, version, models, app, again) {
  if (problem && !value) return [whyNot(problem, again)];
  if (!value) return [empty(`Loading v${version}…`)];
  const { manifest, standing } = value;
  const children = (models?.published ?? []).filter((/** @type {any} */ row) => row.parent_version === version).map((/** @type {any} */ row) => row.version);
  return [
    h("p", { class: "live-line" }, h("b", {}, from(`${MODELS}/${version}`, "manifest.version", `v${version}`)), " ", ...standingWords(standing, models), ...buttons(version, models, app)),
    problem ? whyNot(problem, again) : null,
    h("dl", { class: "facts wide" },
      fact("Held-out pairs, at training time", accuracyOf(version, manifest)),
      fact("Training pairs", rate(version, manifest.metrics.train_accuracy)),
      fact("Trained on", figure(version, "labels", manifest.labels), " labels of ", figure(version, "episodes", manifest.episodes), " episodes, ", figure(version, "preferences", manifest.preferences), " pairs"),
      fact("Human labels and comparisons", ...byPeople(version, manifest.lineage)),
      fact("Lineage", manifest.parent_version === null ? "first version" : h("a", { href: `/models/${manifest.parent_version}` }, "from ", from(`${MODELS}/${version}`, "manifest.parent_version", `v${manifest.parent_version}`)),
        ...children.flatMap((/** @type {number} */ child) => [", then ", h("a", { href: `/models/${child}` }, named(child))])),
      fact("Published", ago(manifest.created_at), ...(standing?.activated_at.length > 1 ? [", live again ", ago(standing.activated_at.at(-1))] : [])),
      fact("Loaded in this run", ...loads(version, standing)),
      fact("File", shortId(manifest.model_sha256, app)),
      fact("Networks", figure(version, "spec.members", manifest.spec.members), " of ", h("code", {}, `${[manifest.spec.inputs, ...manifest.spec.hidden, 1].join("–")} ${manifest.spec.activation}`))),
  ];
}

/** @param {string} term @param {...import("../../../dom.js").Child} children */
const fact = (term, ...children) => h("div", {}, h("dt", {}, term), h("dd", {}, ...children));

/** @param {number} version @param {string} name @param {number} value */
const figure = (version, name, value) => from(`${MODELS}/${version}`, `manifest.${name}`, count(value));

/** @param {number} version @param {number | null} value */
const rate = (version, value) => from(`${MODELS}/${version}`, "manifest.metrics.train_accuracy", percent(value));

/** @param {number} version @param {any} lineage  null of an older writer */
function byPeople(version, lineage) {
  if (!lineage) return ["—"];
  const part = (/** @type {string} */ name, /** @type {string} */ words) => (typeof lineage[name] === "number" ? [h("span", {}, figure(version, `lineage.${name}`, lineage[name]), words)] : []);
  const parts = [...part("overrides", " labels"), ...part("votes", " pairs, blind"), ...part("comparisons", " pairs compared side by side by judges")];
  return parts.flatMap((each, index) => (index ? [", ", each] : [each]));
}

/** @param {number} version @param {any} manifest */
function accuracyOf(version, { metrics }) {
  const { heldout_accuracy: value, heldout_accuracy_low: low, heldout_accuracy_high: high, heldout_pairs: pairs } = metrics;
  const path = `${MODELS}/${version}`;
  return accuracy(path, "manifest.metrics.heldout_", { value, low, high, pairs }, { names: { value: "accuracy", low: "accuracy_low", high: "accuracy_high", pairs: "pairs" } });
}

/** @param {any} standing @param {any} models */
function standingWords(standing, models) {
  if (!standing) return [h("span", { class: "quiet-text" }, "No event seen.")];
  if (standing.champion) return [h("b", { class: "good-text" }, "★ live"), models?.champion?.pinned ? h("span", { class: "tag warn" }, "⚲ pinned") : null, standing.in_use ? h("span", { class: "tag purple" }, "in use") : null];
  return [h("span", {}, "not live"), standing.in_use ? h("span", { class: "tag purple" }, "still in use by the trainer") : null];
}

/** @param {number} version @param {any} models @param {import("../../../app.js").App} app */
function buttons(version, models, app) {
  const button = (/** @type {string} */ text, /** @type {() => void} */ run) => h("button", { type: "button", onclick: run }, text);
  const live = models?.champion?.version ?? null;
  const compared = live !== null && live !== version ? h("a", { class: "button", href: `/models?compare=${live},${version}` }, h("span", {}, "Compare with ", named(live))) : null;
  if (live !== version) return [" ", compared, button("Make live…", () => activate(app, version, live))];
  return [" ", models.champion.pinned ? button("Unpin…", () => unpinIt(app, version)) : button("Pin…", () => pinIt(app, version))];
}

/** @param {number} version @param {any} standing */
function loads(version, standing) {
  const steps = standing?.loaded_at_steps ?? [];
  if (!steps.length) return ["not"];
  return steps.slice(-4).flatMap((/** @type {number} */ step, /** @type {number} */ index) => [index ? ", " : "at step ", from(`${MODELS}/${version}`, `standing.loaded_at_steps.${steps.length - Math.min(4, steps.length) + index}`, compact(step), `step ${count(step)}`)]);
}
