// Candidates that the gate refused: what it measured of them, with intervals, and why.

import { ago } from "../../clock.js";
import { h, keyed, show } from "../../dom.js";
import { count, percent } from "../../format.js";
import { empty, fig } from "../../parts.js";
import { REFUSED, ends, from, ofConfidence, shortId, whisker } from "./figures.js";

const HEADS = ["Candidate", "Held-out pairs", "Interval", "Each episode by the others", "Made of", "Why it was refused"];

/** @param {import("./records.js").Records} records @returns {import("../../panel.js").Panel} */
export function refused(records) {
  /** @type {any} */
  let models = null;
  /** @type {() => void} */
  let redraw = () => {};
  return {
    id: "models-refused",
    title: "Refused by the gate",
    sections: ["reward_models"],
    draw(_body, state) {
      models = state.reward_models;
      redraw();
    },
    mount(body, app, scope) {
      const rows = h("tbody");
      const note = h("div");
      const table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Refused candidates" },
        h("table", { class: "refused-table" }, h("thead", {}, h("tr", {}, ...HEADS.map((head) => h("th", { scope: "col" }, head)))), rows));
      show(body, note, table);
      redraw = () => {
        if (!models) return;
        const details = records.refused;
        const list = details.length ? details : models.rejected;
        table.hidden = !list.length;
        show(note, models.rejected_count === null ? empty("Not known yet: the HUD does not follow the event streams.") : list.length ? summary(models, list) : empty("No candidate was refused yet."));
        keyed(rows, list, (/** @type {any} */ row) => `${row.candidate_id} ${Boolean(row.metrics)}`, (/** @type {any} */ row) => line(row, Boolean(details.length), app));
      };
      scope.add(records.watch(redraw));
    },
  };
}

/** @param {any} models @param {any[]} list */
const summary = (models, list) => h("p", { class: "sub" }, fig("reward_models.rejected_count", count(models.rejected_count)), ` refused in all${models.rejected_count > list.length ? "; the newest are shown" : ""}. The champion stayed.`);

/** @param {any} row @param {boolean} detailed @param {import("../../app.js").App} app */
function line(row, detailed, app) {
  const field = (/** @type {string} */ name, /** @type {string} */ text) => (detailed ? from(REFUSED, `items.${row.candidate_id}.${name}`, text) : fig(`reward_models.rejected.${row.candidate_id}.${name}`, text));
  const metrics = row.metrics ?? null;
  const cell = (/** @type {string} */ label, /** @type {import("../../dom.js").Child[]} */ ...children) => h("td", { "data-label": label }, ...children);
  const path = `items.${row.candidate_id}.metrics.`;
  const heldout = { value: row.heldout_accuracy, low: metrics?.heldout_accuracy_low ?? null, high: metrics?.heldout_accuracy_high ?? null };
  const crossfit = { value: metrics?.crossfit_accuracy ?? null, low: metrics?.crossfit_accuracy_low ?? null };
  return h("tr", { "data-candidate": row.candidate_id },
    h("td", {}, shortId(row.candidate_id, app, 18), h("small", {}, ago(row.rejected_at))),
    cell("Held-out pairs", h("b", {}, field("heldout_accuracy", percent(row.heldout_accuracy))), metrics ? h("small", {}, "of ", from(REFUSED, `${path}heldout_pairs`, count(metrics.heldout_pairs)), " pairs") : null),
    cell("Interval", whisker(heldout, { bound: 0.5 }), h("small", { title: ofConfidence(null) }, metrics ? ends(REFUSED, `${path}heldout_accuracy_`, heldout, percent) : "—")),
    cell("Each episode by the others", metrics ? from(REFUSED, `${path}crossfit_accuracy`, percent(crossfit.value)) : "—", metrics ? h("small", {}, ends(REFUSED, `${path}crossfit_accuracy_`, crossfit, percent)) : null),
    cell("Made of", field("labels", count(row.labels)), " labels from ", field("episodes", count(row.episodes)), " episodes"),
    h("td", { class: "why" }, h("ul", { class: "plain told" }, ...row.reasons.map((/** @type {string} */ reason) => h("li", {}, reason)))));
}
