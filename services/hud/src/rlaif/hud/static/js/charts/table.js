// The same data as a table, built when opened.

import { h, show } from "../dom.js";
import { count } from "../format.js";
import { rows, said } from "./words.js";

/** @typedef {import("./types.js").Line} Line */

const MOST_ROWS = 60;

/** @param {string} name @param {() => Line[]} lines */
export function tableOf(name, lines) {
  const box = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${name}, as a table` });
  const element = h("details", { class: "as-table" }, h("summary", {}, "As a table"), box);
  const refresh = () => {
    if (!element.open) return;
    const at = box.scrollTop;
    show(box, table(name, lines()));
    box.scrollTop = at;
  };
  element.addEventListener("toggle", () => (element.open ? refresh() : show(box)));
  return { element, refresh };
}

/** @param {string} name @param {Line[]} lines */
function table(name, lines) {
  const all = new Set(lines.flatMap(({ points }) => points.map(([step]) => step))).size;
  const report = rows(lines, MOST_ROWS);
  return h("table", {},
    h("caption", {}, report.length < all ? `${name}: ${count(report.length)} of ${count(all)} steps, newest first` : `${name}, newest first`),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Step"), ...lines.map((line) => h("th", { scope: "col" }, line.name)))),
    h("tbody", {}, ...report.map(({ step, values }) => h("tr", {}, h("th", { scope: "row" }, count(step)), ...values.map((value, index) => h("td", { "data-label": lines[index].name }, said(lines[index], value)))))));
}
