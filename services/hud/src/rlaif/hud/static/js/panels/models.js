// Reward models: every published version, and the candidates that the gate refused.

import { byId, h, show } from "../dom.js";
import { ago } from "../clock.js";
import { compact, count, percent } from "../format.js";
import { empty } from "../parts.js";

const REJECTED_SHOWN = 5;

export function drawModels({ reward_models: models }) {
  if (!models.published.length && !models.rejected.length) {
    show(byId("models"), empty("No reward model yet. The first one is trained when enough segments are scored, and published when it passes the gate."));
    return;
  }
  show(byId("models"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Reward models" },
    h("ol", {}, ...models.published.map(publishedRow), ...models.rejected.slice(0, REJECTED_SHOWN).map(rejectedRow))),
    models.rejected_count > REJECTED_SHOWN ? h("p", { class: "sub" }, `${count(models.rejected_count)} candidates were rejected; the newest ${REJECTED_SHOWN} are shown.`) : null);
}

function publishedRow(row) {
  return h("li", { class: "version" },
    h("span", { class: "name" }, `v${row.version}`),
    h("span", {}, "held-out ", h("b", {}, percent(row.heldout_accuracy)), h("span", { class: "quiet-text" }, ` of ${count(row.heldout_pairs)} pairs`),
      row.champion ? h("span", { class: "tag good" }, "★ champion") : null,
      row.in_use ? h("span", { class: "tag purple" }, "in use") : null),
    h("span", { class: "quiet-text" }, ago(row.published_at)),
    h("span", { class: "more" }, `${count(row.labels)} labels from ${count(row.episodes)} episodes`,
      row.loaded_at_step === null ? "" : h("span", { title: `step ${count(row.loaded_at_step)}` }, `, loaded at step ${compact(row.loaded_at_step)}`),
      row.parent_version === null ? ", first version" : `, after v${row.parent_version}`));
}

function rejectedRow(row) {
  return h("li", { class: "version", "data-state": "rejected" },
    h("span", { class: "name", "aria-hidden": "true" }, "✕"),
    h("span", {}, h("code", {}, row.candidate_id), h("span", { class: "tag plain" }, "rejected")),
    h("span", { class: "quiet-text" }, ago(row.rejected_at)),
    h("span", { class: "more" }, row.reasons.join("; "), h("br"), `${count(row.labels)} labels from ${count(row.episodes)} episodes, held-out ${percent(row.heldout_accuracy)}`));
}
