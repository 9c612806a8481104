// The gate, check by check: the bound and the measurement.

import { h } from "../../../dom.js";
import { count, percent } from "../../../format.js";
import { cell, from, table } from "../../../parts.js";
import { ends, measured, ofConfidence, whisker } from "../figures.js";

const SIGNS = { ">=": "at least", ">": "above", "<=": "at most" };
const HEADS = ["Check", "Measured", { hidden: "Picture" }, "Required", "Result"];

/** @param {any} report @param {string} path  of the report */
export function gateOf({ checks, confidence, settings_known: known }, path) {
  return h("div", {},
    h("p", { class: "sub" }, "Bootstrap intervals over episodes, each bound at ", from(path, "confidence", percent(confidence)), " one-sided confidence. The bold value is compared with the bound (dashed line).",
      known ? null : " The record does not contain its settings; the bounds are the current ones."),
    table({ name: "Gate checks", look: "gate", heads: HEADS, region: "scroll tall", rows: checks.map((/** @type {any} */ check) => row(check, path, confidence)) }).frame);
}

/** The range of the picture: shares from 0 to 1, others around the bound. @param {any} check @returns {[number, number] | null} */
export function rangeOf({ name, value, low, high, bound }) {
  if (name.includes("accuracy")) return [0, 1];
  if (name.startsWith("permutation")) return null; // spans powers of ten
  const known = [value, low, high, bound, 0].filter((each) => each !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const margin = (most - least) * 0.15 || 0.1;
  return [least - margin, most + margin];
}

/** @param {any} check @param {string} path @param {number} confidence */
function row(check, path, confidence) {
  const { name, what, value, low, high, count: n, of, compared, relation, bound, holds, note } = check;
  const field = `checks.${name}.`;
  const text = (/** @type {number | null} */ number) => measured(name, number);
  const range = rangeOf(check);
  const interval = low !== null || high !== null;
  const figure = value === null && interval ? null : from(path, `${field}value`, text(value));
  return h("tr", { "data-check": name, "data-holds": String(holds) },
    h("td", { class: "reported" }, what),
    cell("Measured", figure ? (compared === "value" ? h("b", {}, figure) : figure) : null,
      interval ? h(compared === "value" ? "span" : "b", { title: ofConfidence(confidence) }, figure ? " (" : "", ends(path, field, { low, high }, text), figure ? ")" : "") : null,
      n === null ? null : h("small", {}, "of ", from(path, `${field}count`, count(n)), ` ${of ?? ""}`)),
    h("td", {}, range ? whisker({ value, low, high }, { range, bound, holds }) : null),
    cell("Required", bound === null ? "nothing" : h("span", {}, `${/** @type {Record<string, string>} */ (SIGNS)[relation]} `, from(path, `${field}bound`, text(bound)))),
    cell("Result", verdict(holds, bound), note ? h("small", { class: "reported" }, note) : null));
}

/** @param {boolean | null} holds @param {number | null} bound */
function verdict(holds, bound) {
  if (holds === true) return h("span", { class: "good-text" }, "✓ holds");
  if (holds === false) return h("span", { class: "bad-text" }, "✕ fails");
  return h("span", { class: "quiet-text", title: bound === null ? null : "Not measured, too little data, or not in the record" }, "—");
}
