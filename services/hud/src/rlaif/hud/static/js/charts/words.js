// What a chart shows, in words, as a table and as a legend.

import { h, s, setText, show } from "../dom.js";
import { count } from "../format.js";
import { cell, table } from "../parts.js";
import { lastUpTo, newest } from "./scale.js";

/** @typedef {import("./axis.js").Line} Line @typedef {import("./axis.js").Mark} Mark */

/** @param {Line} line @param {number | null} value */
export const said = (line, value) => (line.format ?? String)(value);

/** The whole chart in one sentence or two. @param {{name: string, lines: Line[], marks: Mark[]}} chart */
export function summary({ name, lines, marks }) {
  const report = lines.map(ofLine).filter(Boolean);
  if (!report.length) return `${name}: no data yet.`;
  const loads = marks.length ? ` Marks: ${marks.slice(-8).map(({ label, step }) => `${label} at step ${count(step)}`).join(", ")}.` : "";
  return `${report.join("; ")}.${loads}`;
}

/** @param {Line} line */
function ofLine(line) {
  const last = newest(line.points);
  if (!last) return "";
  const values = /** @type {number[]} */ (line.points.map(([, value]) => value).filter((value) => value !== null));
  const ends = values.length > 1 ? `, between ${said(line, Math.min(...values))} and ${said(line, Math.max(...values))}` : "";
  return `${line.name} ${said(line, last[1])} at step ${count(last[0])}${ends}`;
}

/** The chart at one step; `point` is the one that the keyboard stands on. @param {{lines: Line[], marks: Mark[], step: number, point?: {line: Line, point: import("./axis.js").Point} | null}} place */
export function atStep({ lines, marks, step, point = null }) {
  const values = lines.map((line) => {
    const here = point?.line === line ? point.point : lastUpTo(line.points, step);
    return `${line.name} ${said(line, here ? here[1] : null)}`;
  });
  const here = marks.filter((mark) => mark.step === step).map(({ label }) => label);
  return [`step ${count(step)}: ${values.join(", ")}`, ...here].join("; ");
}

/** Rows of the table: at most `most` steps, evenly picked, the newest among them; newest first. @param {Line[]} lines @param {number} most @returns {{step: number, values: (number | null)[]}[]} */
export function rows(lines, most) {
  const steps = [...new Set(lines.flatMap(({ points }) => points.map(([step]) => step)))].sort((a, b) => b - a);
  const stride = Math.max(1, Math.ceil(steps.length / most));
  return steps.filter((_, index) => index % stride === 0).map((step) => ({ step, values: lines.map(({ points }) => lastUpTo(points, step)?.[1] ?? null) }));
}

const MOST_ROWS = 60;

/** @param {string} name @param {() => Line[]} lines */
export function tableOf(name, lines) {
  const box = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${name}, as a table` });
  const save = h("a", { href: "#", class: "as-csv", download: `${name}.csv`, "aria-label": `${name} as CSV`, onclick: () => save.setAttribute("href", csv(lines())) }, "CSV");
  const details = h("details", { class: "as-table" }, h("summary", {}, "As a table"), box);
  const refresh = () => {
    if (!details.open) return;
    const at = box.scrollTop;
    show(box, valuesOf(name, lines()));
    box.scrollTop = at;
  };
  details.addEventListener("toggle", () => (details.open ? refresh() : show(box)));
  return { element: h("div", { class: "chart-foot" }, details, save), refresh };
}

/** All values as an address of CSV. @param {Line[]} lines */
export function csv(lines) {
  const quoted = (/** @type {string} */ name) => `"${name.replaceAll('"', '""')}"`;
  const values = lines.map(({ points }) => new Map(points.map(([step, value]) => [step, value ?? ""])));
  const steps = [...new Set(values.flatMap((each) => [...each.keys()]))].sort((a, b) => a - b);
  const all = steps.map((step) => [step, ...values.map((each) => each.get(step) ?? "")].join(","));
  return `data:text/csv;charset=utf-8,${encodeURIComponent([["env_step", ...lines.map((line) => quoted(line.name))].join(","), ...all, ""].join("\n"))}`;
}

/** @param {string} name @param {Line[]} lines */
function valuesOf(name, lines) {
  const all = new Set(lines.flatMap(({ points }) => points.map(([step]) => step))).size;
  const report = rows(lines, MOST_ROWS);
  return table({
    caption: report.length < all ? `${name}: ${count(report.length)} of ${count(all)} steps, newest first` : `${name}, newest first`,
    heads: ["Step", ...lines.map((line) => line.name)],
    rows: report.map(({ step, values }) => h("tr", {}, h("th", { scope: "row" }, count(step)), ...values.map((value, index) => cell(lines[index].name, said(lines[index], value))))),
  }).frame;
}

/** @typedef {{element: HTMLElement, value: HTMLElement, line: Line}} Entry */

export class Legend {
  /** @param {(name: string) => void} toggle */
  constructor(toggle) {
    this.element = h("ul", { class: "legend" });
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
    this.toggle = toggle;
    this.names = "";
  }

  /** @param {Line[]} lines @param {Set<string>} hidden */
  update(lines, hidden) {
    const names = lines.map(({ name, style, shape }) => `${name} ${style} ${shape}`).join("\n");
    if (names !== this.names) {
      this.names = names;
      this.entries = new Map(lines.map((line) => [line.name, this.#entry(line, lines.length > 1)]));
      this.element.replaceChildren(...[...this.entries.values()].map(({ element }) => h("li", {}, element)));
    }
    for (const line of lines) {
      const entry = /** @type {Entry} */ (this.entries.get(line.name));
      entry.line = line;
      if (lines.length > 1) entry.element.setAttribute("aria-pressed", String(!hidden.has(line.name)));
    }
  }

  /** Show a value of each line: name → value, and whether it is the newest. @param {Map<string, number | null>} values @param {boolean} newest */
  values(values, newest) {
    for (const [name, { value, line }] of this.entries) {
      setText(value, said(line, values.get(name) ?? null));
      // Only the latest value equals the REST field.
      if (newest && line.field) value.setAttribute("data-figure", line.field);
      else value.removeAttribute("data-figure");
      value.toggleAttribute("data-derived", !line.field);
    }
  }

  /** @param {Line} line @param {boolean} several @returns {Entry} */
  #entry(line, several) {
    const value = h("span", { class: "value" });
    const inside = [sample(line), h("span", { class: "name" }, line.name), value];
    const element = several ? h("button", { type: "button", "aria-pressed": "true", onclick: () => this.toggle(line.name) }, ...inside) : h("span", { class: "alone" }, ...inside);
    return { element, value, line };
  }
}

/** @param {Line} line */
function sample({ style, shape, faint }) {
  const stroke = shape === "dots" ? s("path", { class: "dots", "data-style": style, d: "M9,5h0" }) : s("path", { class: faint ? "line faint" : "line", "data-style": style, d: "M0,5H18" });
  return s("svg", { class: "sample", width: 18, height: 10, "aria-hidden": "true" }, stroke);
}
