// Candidates that the gate refused: what it measured of them, with intervals, and why.

import { ago } from "../../clock.js";
import { h, keyed, show } from "../../dom.js";
import { count, percent } from "../../format.js";
import { empty, fig } from "../../parts.js";
import { REFUSED, ends, from, shortId } from "./figures.js";
import { FITTED, cell, fitted, scrollingTable } from "./table.js";

const HEADS = ["Candidate", ...FITTED, "Cross-fit by episode", "Reasons"];

/** @param {import("./records.js").Records} records @returns {import("../../panel.js").Panel} */
export function refused(records) {
  /** @type {any} */
  let models = null;
  /** @type {() => void} */
  let redraw = () => {};
  return {
    id: "models-refused",
    title: "Rejected by the gate",
    sections: ["reward_models"],
    draw(_body, state) {
      models = state.reward_models;
      redraw();
    },
    mount(body, app, scope) {
      const note = h("div");
      const { frame: table, body: rows } = scrollingTable({ name: "Rejected candidates", look: "refused-table", heads: HEADS });
      show(body, note, table);
      redraw = () => {
        if (!models) return;
        const details = records.refused;
        const list = details.length ? details : models.rejected;
        table.hidden = !list.length;
        show(note, models.rejected_count === null ? empty("Unknown: the HUD is not connected to the event streams.") : list.length ? summary(models, list) : empty("No candidate rejected yet."));
        keyed(rows, list, (/** @type {any} */ row) => `${row.candidate_id} ${Boolean(row.metrics)}`, (/** @type {any} */ row) => line(row, Boolean(details.length), app));
      };
      scope.add(records.watch(redraw));
    },
  };
}

/** @param {any} models @param {any[]} list */
const summary = (models, list) => h("p", { class: "sub" }, fig("reward_models.rejected_count", count(models.rejected_count)), ` rejected in total${models.rejected_count > list.length ? "; showing the latest" : ""}. The champion was kept.`);

/** @param {any} row @param {boolean} detailed @param {import("../../app.js").App} app */
function line(row, detailed, app) {
  const field = (/** @type {string} */ name, /** @type {string} */ text) => (detailed ? from(REFUSED, `items.${row.candidate_id}.${name}`, text) : fig(`reward_models.rejected.${row.candidate_id}.${name}`, text));
  const metrics = row.metrics ?? null;
  const path = `items.${row.candidate_id}.metrics.`;
  const crossfit = { value: metrics?.crossfit_accuracy ?? null, low: metrics?.crossfit_accuracy_low ?? null };
  return h("tr", { "data-candidate": row.candidate_id },
    h("td", {}, shortId(row.candidate_id, app, 18), h("small", {}, ago(row.rejected_at))),
    ...fitted(row, { figure: field, pairs: metrics && from(REFUSED, `${path}heldout_pairs`, count(metrics.heldout_pairs)), metrics, source: [REFUSED, path] }),
    cell("Cross-fit by episode", metrics ? from(REFUSED, `${path}crossfit_accuracy`, percent(crossfit.value)) : "—", metrics ? h("small", {}, ends(REFUSED, `${path}crossfit_accuracy_`, crossfit, percent)) : null),
    h("td", { class: "why" }, h("ul", { class: "plain reported" }, ...row.reasons.map((/** @type {string} */ reason) => h("li", {}, reason)))));
}
