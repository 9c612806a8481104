// Every published version with what the gate measured; two of them can be chosen and compared.

import { whyNot } from "../../answer.js";
import { ago } from "../../clock.js";
import { h, keyed, show } from "../../dom.js";
import { compact, count, decimal } from "../../format.js";
import { empty, fig } from "../../parts.js";
import { activate } from "./change.js";
import { LIST, from } from "./figures.js";
import { FITTED, cell, fitted, scrollingTable } from "./table.js";

const LOADS_SHOWN = 3;
const HEADS = ["Compare", "Version", ...FITTED, "Calibration error", "Loaded", { hidden: "Change" }];

/** @typedef {import("../../app.js").App} App */

/** @param {import("./records.js").Records} records @param {import("./chosen.js").Chosen} chosen @returns {import("../../panel.js").Panel} */
export function versions(records, chosen) {
  /** @type {any} */
  let models = null;
  /** @type {() => void} */
  let redraw = () => {};
  return {
    id: "models-versions",
    title: "Versions",
    sections: ["reward_models"],
    draw(_body, state) {
      models = state.reward_models;
      redraw();
    },
    mount(body, app, scope) {
      const note = h("div");
      const none = h("div");
      const { frame: table, body: rows } = scrollingTable({ name: "Versions of the reward model", look: "versions", heads: HEADS });
      show(body, note, table, none);
      redraw = () => {
        if (!models) return;
        table.hidden = !models.published.length;
        show(none, models.published.length ? null : empty("No version published yet."), records.more ? h("p", { class: "sub" }, "For older versions only the contents of their events are shown.") : null);
        show(note, records.problem ? whyNot(records.problem, () => records.ask()) : null, ...records.unreadable.map(unreadable));
        const manifests = records.manifests;
        const live = models.champion?.version ?? null;
        const items = models.published.map((/** @type {any} */ row) => ({ row, known: manifests.get(row.version) ?? null, live, chosen: chosen.has(row.version), app, pair: chosen }));
        keyed(rows, items, ({ row }) => row.version, line, (element, item) => fillLine(element, item));
      };
      scope.add(records.watch(redraw));
      scope.add(chosen.watch(redraw));
    },
  };
}

/** @param {{version: number, reason: string}} row */
const unreadable = ({ version, reason }) => h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, `The record of v${version} cannot be read`), ": ", h("span", { class: "reported" }, reason));

/** @typedef {{row: any, known: {index: number, manifest: any} | null, live: number | null, chosen: boolean, app: App, pair: import("./chosen.js").Chosen}} Item */

/** @param {Item} item */
function line(item) {
  const element = h("tr", { "data-version": item.row.version });
  fillLine(element, item);
  return element;
}

const drawn = new WeakMap();

/** @param {Element} element @param {Item} item */
function fillLine(element, item) {
  const { row, known, live, chosen } = item;
  const key = JSON.stringify([row, known, live]);
  if (drawn.get(element) !== key) show(element, ...cells(item)); // else what has the focus keeps it
  drawn.set(element, key);
  const box = element.querySelector("input");
  if (box) box.checked = chosen;
}

/** @param {Item} item */
function cells({ row, known, live, app, pair }) {
  const figure = (/** @type {string} */ name, /** @type {string} */ text) => fig(`reward_models.published.${row.version}.${name}`, text);
  const record = (/** @type {string} */ field, /** @type {string} */ text) => from(LIST, `items.${known?.index}.manifest.${field}`, text);
  const manifest = known?.manifest ?? null;
  return [
    cell("Compare", h("input", { type: "checkbox", "aria-label": `Compare v${row.version}`, onchange: () => pair.toggle(row.version) })),
    h("td", {}, h("a", { class: "name", href: `/models/${row.version}` }, figure("version", `v${row.version}`)),
      row.champion ? h("span", { class: "tag good" }, "★ champion") : null, row.in_use ? h("span", { class: "tag purple" }, "in use") : null,
      h("small", {}, row.parent_version === null ? "first version" : h("span", {}, "after ", figure("parent_version", `v${row.parent_version}`)), " · ", ago(row.published_at))),
    ...fitted(row, { figure, pairs: figure("heldout_pairs", count(row.heldout_pairs)), metrics: manifest?.metrics ?? null, source: [LIST, `items.${known?.index}.manifest.metrics.`], more: [
      h("small", {}, manifest ? h("span", {}, record("preferences", count(manifest.preferences)), " pairs", manifest.lineage ? h("span", {}, "; ", record("lineage.overrides", count(manifest.lineage.overrides)), " labels by people") : null) : "—")] }),
    cell("Calibration error", manifest ? record("metrics.heldout_ece", decimal(manifest.metrics.heldout_ece)) : "—"),
    cell("Loaded", ...loads(row)),
    h("td", { class: "do" }, row.version === live ? null : h("button", { type: "button", class: "small", onclick: () => activate(app, row.version, live) }, "Make live…")),
  ];
}

/** "loaded at step 4.1K, again at 8.2K"; of many loads the newest. @param {any} row */
function loads({ version, loaded_at_steps: steps }) {
  const step = (/** @type {number} */ value, /** @type {number} */ index) => fig(`reward_models.published.${version}.loaded_at_steps.${index}`, compact(value), `step ${count(value)}`);
  if (!steps.length) return [h("span", { class: "quiet-text" }, "not in this run")];
  if (steps.length > LOADS_SHOWN) return [fig(`reward_models.published.${version}.loaded_at_steps.length`, count(steps.length)), " times, last at step ", step(steps.at(-1), steps.length - 1)];
  return steps.flatMap((/** @type {number} */ value, /** @type {number} */ index) => [index ? ", again at " : "at step ", step(value, index)]);
}
