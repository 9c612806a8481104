// What the models' tables share: their frame, a cell that knows its heading, and the columns that every fitted network has.

import { h } from "../../dom.js";
import { count, percent } from "../../format.js";
import { ends, ofConfidence, whisker } from "./figures.js";

/** @typedef {import("../../dom.js").Child} Child */

/**
 * A table that scrolls in a region of its own.
 *
 * @param {object} how
 * @param {string} how.name  of the region, for screen readers
 * @param {string} how.look  class of the table
 * @param {(string | {hidden: string})[]} how.heads  of the columns; hidden: for screen readers alone
 * @param {boolean} [how.tall]  as high as its rows
 * @param {Child[]} [how.rows]
 */
export function scrollingTable({ name, look, heads, tall = false, rows = [] }) {
  const body = h("tbody", {}, ...rows);
  const head = heads.map((each) => h("th", { scope: "col" }, typeof each === "string" ? each : h("span", { class: "visually-hidden" }, each.hidden)));
  const frame = h("div", { class: tall ? "scroll tall" : "scroll", tabindex: "0", role: "region", "aria-label": name }, h("table", { class: look }, h("thead", {}, h("tr", {}, ...head)), body));
  return { frame, body };
}

/** A cell that says its heading where rows become cards. @param {string} label @param {...Child} children */
export const cell = (label, ...children) => h("td", { "data-label": label }, ...children);

/** Headings of `fitted`. */
export const FITTED = ["Held-out pairs", "Interval", "Trained on"];

/**
 * What the gate measured on held-out pairs, its interval, and what the network was made of.
 *
 * @param {any} row  accuracy, labels and episodes
 * @param {object} how
 * @param {(name: string, text: string) => Child} how.figure  names the field of a number of the row
 * @param {Child} how.pairs  how many pairs; null if not reported
 * @param {any} how.metrics  the gate's record; null where it is not known
 * @param {[string, string]} how.source  REST document of the record and the path of its metrics in it
 * @param {Child[]} [how.more]  of what it was made of
 */
export function fitted(row, { figure, pairs, metrics, source: [path, prefix], more = [] }) {
  const heldout = { value: row.heldout_accuracy, low: metrics?.heldout_accuracy_low ?? null, high: metrics?.heldout_accuracy_high ?? null };
  return [
    cell(FITTED[0], h("b", {}, figure("heldout_accuracy", percent(row.heldout_accuracy))), pairs ? h("small", {}, "of ", pairs, " pairs") : null),
    cell(FITTED[1], whisker(heldout, { bound: 0.5 }), h("small", { title: ofConfidence(null) }, metrics ? ends(path, `${prefix}heldout_accuracy_`, heldout, percent) : "—")),
    cell(FITTED[2], figure("labels", count(row.labels)), " labels from ", figure("episodes", count(row.episodes)), " episodes", ...more),
  ];
}
