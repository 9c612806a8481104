// Small parts that several panels use.

import { h } from "./dom.js";
import { decimal, UNKNOWN } from "./format.js";

/** A number of the page, with the field of `/api/v1/state` that it shows: "loop.captured". */
export const fig = (field, text, title = null) => h("span", { "data-figure": field, title }, text);

/** A bar for a value between 0 and 1, with its number. */
export function bar01(field, value, { kind = "", title = null } = {}) {
  const fill = h("i");
  fill.style.width = `${100 * (value ?? 0)}%`;
  return [h("span", { class: "bar01", "data-kind": kind, "aria-hidden": "true", title }, fill), h("span", { class: "number", title, "data-figure": field }, decimal(value))];
}

/** Facts as terms and values: [["Steps", "1,204", "exact text"], …]. */
export function facts(rows, kind = "") {
  return h("dl", { class: `facts ${kind}` }, ...rows.map(([term, value, title]) => h("div", {}, h("dt", {}, term), h("dd", { title }, value))));
}

/** The words of the judges. */
export function words(rationales) {
  return h("div", { class: "words" }, ...rationales.map(({ judge, text }) => h("figure", {}, h("blockquote", { title: text }, text), h("figcaption", {}, judge))));
}

/** Why a criterion has no number, or null. */
export function whyUnknown(row, criterion) {
  return row.score?.abstentions?.[criterion] ?? (row.abstained.includes(criterion) ? "abstained" : null);
}

/** A text when there is nothing to show. */
export const empty = (...children) => h("p", { class: "empty" }, ...children);

export const CRITERIA = ["progress", "dialog", "puzzle", "novelty", "efficiency"];

export { UNKNOWN };
