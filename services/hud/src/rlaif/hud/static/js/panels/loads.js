// Before and after each reward model that the trainer loaded.

import { ago } from "../clock.js";
import { h, keyed, show } from "../dom.js";
import { compact, count, decimal, percent, reward, tenth } from "../format.js";
import { empty, fig } from "../parts.js";

/** @typedef {import("./headline.js").Difference} Difference */

/** @typedef {{version: number | null, replaced: number | null, env_step: number, at: string, enough: boolean, unfinished: number, figures: Record<string, Difference>}} Load */

/** @typedef {{run_id: string | null, least: number, most: number, known: number, loads: Load[]}} Loads */

const LOOK_AGAIN = 15_000; // ms; the newest load's episodes become more all the time
const ROOM = 8; // rows

/** Name, heading, how it is written. @type {[string, string, (value: any) => string][]} */
const COLUMNS = [
  ["milestones", "Milestones", decimal],
  ["rooms", "Rooms", tenth],
  ["deaths", "Deaths", percent],
  ["episode_return", "Return", reward],
  ["shaped_return", "Shaping return", reward],
  ["judge_score", "Judge score", decimal],
];

/** A table of loads, and the function that draws it; for any page. */
export function loadsTable() {
  const rows = h("tbody");
  const note = h("p", { class: "quiet-text" });
  const table = h("table", { class: "loads-table" },
    h("caption", { class: "visually-hidden" }, "Episodes started before and after each load"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Load"), ...COLUMNS.map(([, heading]) => h("th", { scope: "col" }, heading)), h("th", { scope: "col" }, "Episodes"))),
    rows);
  const root = h("div", { class: "wide", role: "region", "aria-label": "Before and after each load", tabindex: 0 }, table);
  /** @param {Loads} report */
  const draw = (report) => {
    show(note, "Means of up to ", fig("loads.most", count(report.most)), " episodes started before and after each load, with the confidence interval of the change. The policy learns continuously, so a change need not be caused by the load.");
    keyed(rows, report.loads.slice(0, ROOM), (load) => `${load.env_step}`, (load) => row(load, report.least), (element, load) => update(element, load, report.least));
  };
  return { root, note, draw };
}

/** @param {Load} load @param {number} least */
function row(load, least) {
  const element = h("tr");
  update(element, load, least);
  return element;
}

/** A row is made again when something in it changed: a few times an hour. @param {HTMLElement} element @param {Load} load @param {number} least */
function update(element, load, least) {
  const key = JSON.stringify(load);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  const field = (/** @type {string} */ name) => `loads.loads.${load.env_step}.${name}`;
  const model = load.version === null ? "none" : `v${load.version}`;
  const link = load.version === null ? "no model" : h("a", { href: `/models/${load.version}` }, fig(field("version"), model));
  const { n_before: before, n_after: after } = load.figures.milestones;
  show(element,
    h("th", { scope: "row" }, link, load.replaced === null ? "" : h("span", { class: "quiet-text" }, " after ", fig(field("replaced"), `v${load.replaced}`)),
      h("small", {}, "step ", fig(field("env_step"), compact(load.env_step)), ", ", ago(load.at))),
    ...COLUMNS.map(([name, heading, text]) => cell(heading, field(`figures.${name}`), load.figures[name], text, least)),
    h("td", { "data-label": "Episodes" }, fig(field("figures.milestones.n_before"), count(before)), " and ", fig(field("figures.milestones.n_after"), count(after)),
      load.unfinished ? h("small", { title: "Finished episodes are counted once all episodes started at the same time have finished; otherwise short episodes would be over-represented." }, "+", fig(field("unfinished"), count(load.unfinished)), " pending") : null));
}

/** @param {string} heading @param {string} field @param {Difference} report @param {(value: any) => string} text @param {number} least */
function cell(heading, field, report, text, least) {
  const means = [fig(`${field}.before`, text(report.before)), " → ", fig(`${field}.after`, text(report.after))];
  if (report.change === null) {
    const fewer = report.n_after <= report.n_before ? "n_after" : "n_before";
    return h("td", { "data-label": heading }, ...means, h("small", {}, "too few episodes (", fig(`${field}.${fewer}`, count(report[fewer])), " of ", fig("loads.least", count(least)), ")"));
  }
  const clear = (report.low ?? 0) > 0 || (report.high ?? 0) < 0;
  return h("td", { "data-label": heading }, ...means,
    h("small", { "data-clear": clear ? "yes" : "no", title: clear ? "The interval excludes zero" : "The interval includes zero" },
      fig(`${field}.change`, signed(report.change, text)), " (", fig(`${field}.low`, signed(report.low, text)), " to ", fig(`${field}.high`, signed(report.high, text)), ")"));
}

/** @param {number | null} value @param {(value: any) => string} text */
function signed(value, text) {
  const plain = text(value).replace("-", "−");
  return value !== null && value > 0 && !plain.startsWith("+") ? `+${plain}` : plain;
}

/** @param {HTMLElement} body @param {import("../app.js").App} app @param {import("../scope.js").Scope} scope */
function mount(body, app, scope) {
  const { root, note, draw: drawTable } = loadsTable();
  const none = empty("Available after the trainer has loaded its first reward model.");
  body.append(note, root, none);
  /** @type {string | null} */
  let known = null;
  let left = false;
  scope.add(() => { left = true; });
  const look = async () => {
    if (document.hidden) return;
    try {
      /** @type {Loads} */
      const report = await app.api.get("/api/v1/loads?limit=8");
      if (left) return;
      none.hidden = report.loads.length > 0;
      root.hidden = note.hidden = !none.hidden;
      drawTable(report);
    } catch (error) {
      known = null; // the status of the page says that the HUD does not answer
      console.warn("comparison of loads failed", error);
    }
  };
  root.hidden = note.hidden = true;
  scope.add(app.store.watch(["loop"], ({ loop }) => {
    const now = loop ? `${loop.run_id} ${loop.loaded_version} ${loop.loaded_at_step}` : null;
    if (now === known) return;
    known = now;
    void look();
  }));
  scope.every(LOOK_AGAIN, () => void look());
}

/** @type {import("../panel.js").Panel} */
export const loads = { id: "loads", title: "Before and after each reward model", sections: [], mount, draw: () => {} };
