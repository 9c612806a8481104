// What a version was made of: judges, prompts, labels, settings.

import { Answer } from "../../../answer.js";
import { h, show } from "../../../dom.js";
import { compact, count } from "../../../format.js";
import { empty } from "../../../parts.js";
import { settingsOf } from "../differences.js";
import { MODELS, alsoNot, from, shortId } from "../figures.js";

/** @param {number} version @returns {import("../../../panel.js").Panel} */
export function made(version) {
  const path = `${MODELS}/${version}`;
  return {
    id: "model-made",
    title: "Trained on",
    sections: [],
    draw() {},
    mount(body, app, scope) {
      const answer = new Answer(app, scope, (/** @type {any} */ { value, problem }) => {
        if (value) show(body, ...drawn(value.manifest, path, app));
        else show(body, problem ? alsoNot(/** @type {HTMLElement} */ (body.parentElement), problem, () => answer.ask()) : empty("Loading…"));
      });
      void answer.ask(path);
    },
  };
}

/** @param {any} manifest @param {string} path @param {import("../../../app.js").App} app */
function drawn(manifest, path, app) {
  const { lineage } = manifest;
  const fact = (/** @type {string} */ term, /** @type {import("../../../dom.js").Child[]} */ ...children) => h("div", {}, h("dt", {}, term), h("dd", {}, ...children));
  const figure = (/** @type {string} */ name, /** @type {number} */ value, write = count) => from(path, `manifest.${name}`, write(value));
  const settings = [...settingsOf(lineage?.settings)];
  return [
    h("dl", { class: "facts wide" },
      fact("Judge configuration", shortId(manifest.judge_config, app)),
      fact("Judge models", lineage ? lineage.models.join(", ") || "none" : "—"),
      fact("Judge prompts", ...(lineage?.rubrics.length ? lineage.rubrics.map((/** @type {string} */ digest) => shortId(digest, app)) : ["—"])),
      fact("Labels", shortId(manifest.label_digest, app), lineage ? h("span", {}, "· ", figure("lineage.duplicates", lineage.duplicates), " near-duplicates merged") : null),
      fact("Newest label", lineage ? h("span", {}, "step ", figure("lineage.newest_env_step", lineage.newest_env_step, compact)) : "—"),
      fact("Statistic", lineage?.statistic ?? "—"),
      fact("Seed", figure("seed", manifest.seed))),
    settings.length ? h("details", {}, h("summary", {}, "Settings of training and gate"),
      h("dl", { class: "settings" }, ...settings.map(([name, text]) => h("div", {}, h("dt", {}, h("code", {}, name)), h("dd", {}, h("code", {}, text)))))) : null,
  ];
}
