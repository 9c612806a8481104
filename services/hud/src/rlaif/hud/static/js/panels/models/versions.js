// Published versions with the gate's measurements, and rejected candidates.

import { ago } from "../../clock.js";
import { h, keyed, show } from "../../dom.js";
import { compact, count, decimal, percent } from "../../format.js";
import { cell, empty, fig, from, listed, table } from "../../parts.js";
import { ends, FITTED, fitted, LIST, REJECTED, shortId } from "./figures.js";
import { activate } from "./now.js";

const MAX_LOADS = 3;

/** @param {import("./figures.js").Records} records @returns {import("../../panel.js").Panel} */
export function versions(records) {
  let redraw = () => {};
  return {
    id: "models-versions",
    title: "Versions",
    sections: ["reward_models"],
    draw: () => redraw(),
    mount(body, app) {
      const [note, none] = [h("div"), h("div")];
      const { frame, body: rows } = table({ name: "Versions of the reward model", look: "versions", heads: ["Version", ...FITTED, "Calibration error", "Loaded", { hidden: "Change" }] });
      show(body, note, frame, none);
      redraw = () => {
        const models = app.store.state.reward_models;
        if (!models) return;
        const { list, manifests } = records;
        frame.hidden = !models.published.length;
        show(none, models.published.length ? null : empty("No version published yet."), list.value?.next_cursor ? h("p", { class: "sub" }, "For older versions only the contents of their events are shown.") : null);
        show(note, list.notice(), ...(list.value?.unreadable ?? []).map(unreadable));
        const live = models.champion?.version ?? null;
        const items = models.published.map((/** @type {any} */ row) => ({ row, known: manifests.get(row.version) ?? null, live, app }));
        keyed(rows, items, ({ row }) => row.version, versionRow, fillVersion);
      };
      records.list.watch(redraw);
    },
  };
}

/** @param {{version: number, reason: string}} row */
const unreadable = ({ version, reason }) => h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, `The record of v${version} cannot be read`), ": ", h("span", { class: "reported" }, reason));

/** @typedef {{row: any, known: {index: number, manifest: any} | null, live: number | null, app: import("../../app.js").App}} Item */

/** @param {Item} item */
function versionRow(item) {
  const element = h("tr", { "data-version": item.row.version });
  fillVersion(element, item);
  return element;
}

const drawn = new WeakMap();

/** @param {Element} element @param {Item} item */
function fillVersion(element, item) {
  const { row, known, live } = item;
  const key = JSON.stringify([row, known, live]);
  if (drawn.get(element) !== key) show(element, ...cells(item)); // else what has the focus keeps it
  drawn.set(element, key);
}

/** @param {Item} item */
function cells({ row, known, live, app }) {
  const figure = (/** @type {string} */ name, /** @type {string} */ text) => fig(`reward_models.published.${row.version}.${name}`, text);
  const record = (/** @type {string} */ field, /** @type {string} */ text) => from(LIST, `items.${known?.index}.${field}`, text);
  const manifest = known?.manifest ?? null;
  const people = manifest?.lineage ? h("span", {}, "; ", record("lineage.overrides", count(manifest.lineage.overrides)), " labels by people") : null;
  return [
    h("td", {}, h("a", { class: "name", href: `/models/${row.version}` }, figure("version", `v${row.version}`)),
      row.champion ? h("span", { class: "tag good" }, "★ champion") : null, row.in_use ? h("span", { class: "tag purple" }, "in use") : null,
      h("small", {}, row.parent_version === null ? "first version" : h("span", {}, "after ", figure("parent_version", `v${row.parent_version}`)), " · ", ago(row.published_at))),
    ...fitted(row, {
      figure, pairs: figure("heldout_pairs", count(row.heldout_pairs)), metrics: manifest?.metrics ?? null, source: [LIST, `items.${known?.index}.metrics.`],
      more: [h("small", {}, manifest ? h("span", {}, record("preferences", count(manifest.preferences)), " pairs", people) : "—")],
    }),
    cell("Calibration error", manifest ? record("metrics.heldout_ece", decimal(manifest.metrics.heldout_ece)) : "—"),
    cell("Loaded", ...loadsOf(row)),
    h("td", { class: "do" }, row.version === live ? null : h("button", { type: "button", class: "small", onclick: () => activate(app, row.version, live) }, "Make live…")),
  ];
}

/** "at step 4.1K, 8.2K"; of many loads the newest. @param {any} row */
export function loadsOf({ version, loaded_at_steps: steps }) {
  if (!steps.length) return [h("span", { class: "quiet-text" }, "not in this run")];
  const where = `reward_models.published.${version}.loaded_at_steps`;
  const newest = steps.map((/** @type {number} */ value, /** @type {number} */ index) => fig(`${where}.${index}`, compact(value), `step ${count(value)}`)).slice(-MAX_LOADS);
  const earlier = steps.length > MAX_LOADS ? [fig(`${where}.length`, count(steps.length)), " times, last "] : [];
  return [...earlier, "at step ", ...listed(newest)];
}

/** @param {import("./figures.js").Records} records @returns {import("../../panel.js").Panel} */
export function rejected({ rejections }) {
  let redraw = () => {};
  return {
    id: "models-rejected",
    title: "Rejected by the gate",
    sections: ["reward_models"],
    draw: () => redraw(),
    mount(body, app) {
      const note = h("div");
      const { frame, body: rows } = table({ name: "Rejected candidates", look: "rejected-table", heads: ["Candidate", ...FITTED, "Cross-fit by episode", "Reasons"] });
      show(body, note, frame);
      redraw = () => {
        const all = app.store.state.reward_models?.rejected_count ?? null;
        const list = rejections.value?.items ?? [];
        frame.hidden = !list.length;
        show(note, rejections.notice() ?? (all === null ? empty("Unknown: the HUD is not connected to the event streams.") : list.length ? summary(all, list.length) : empty("No candidate rejected yet.")));
        keyed(rows, list, (/** @type {any} */ row) => row.candidate_id, rejectedRow);
      };
      rejections.watch(redraw);
    },
  };
}

/** @param {number} all @param {number} shown */
const summary = (all, shown) => h("p", { class: "sub" }, fig("reward_models.rejected_count", count(all)), ` rejected in total${all > shown ? "; showing the latest" : ""}. The champion was kept.`);

function rejectedRow(row) {
  const field = (/** @type {string} */ name, /** @type {string} */ text) => from(REJECTED, `items.${row.candidate_id}.${name}`, text);
  const { metrics } = row;
  const crossfit = { value: metrics?.crossfit_accuracy ?? null, low: metrics?.crossfit_accuracy_low ?? null };
  return h("tr", { "data-candidate": row.candidate_id },
    h("td", {}, shortId(row.candidate_id, 18), h("small", {}, ago(row.rejected_at))),
    ...fitted(row, { figure: field, pairs: metrics && field("metrics.heldout_pairs", count(metrics.heldout_pairs)), metrics, source: [REJECTED, `items.${row.candidate_id}.metrics.`] }),
    cell("Cross-fit by episode", metrics ? field("metrics.crossfit_accuracy", percent(crossfit.value)) : "—", metrics ? h("small", {}, ends(REJECTED, `items.${row.candidate_id}.metrics.crossfit_accuracy_`, crossfit, percent)) : null),
    h("td", { class: "why" }, h("ul", { class: "plain reported" }, ...row.reasons.map((/** @type {string} */ reason) => h("li", {}, reason)))));
}
