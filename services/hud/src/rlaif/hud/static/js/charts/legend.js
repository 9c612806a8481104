// Names, samples and values of a chart's lines. Where there are several, each can be switched off.

import { h, s, setText } from "../dom.js";
import { said } from "./words.js";

/** @typedef {import("./axis.js").Line} Line */
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
