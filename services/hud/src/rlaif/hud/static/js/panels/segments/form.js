// The form of the list's filters. It says what is asked for, and what there is to ask for.

import { h, show } from "../../dom.js";
import { count } from "../../format.js";
import { ORDERS } from "../../segments/found.js";
import { inWords, REASONS } from "../../segments/names.js";

/** @typedef {{value: string, segments: number}} Facet */
/** @typedef {{segments: number, scored: number, runs: Facet[], selected_by: Facet[], reward_model_versions: Facet[], milestones: Facet[], with_model_gap: number}} Facets */

export class Form {
  #filters;
  #changed;

  /** @param {Record<string, string>} filters @param {(filters: Record<string, string>) => void} changed */
  constructor(filters, changed) {
    this.#filters = filters;
    this.#changed = changed;
    this.orders = h("div", { class: "orders", role: "group", "aria-label": "Order" });
    this.choices = h("div", { class: "choices" });
    this.element = h("form", { class: "filters", onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, this.orders, this.choices);
    this.draw(null);
  }

  /** @param {Facets | null} facets */
  draw(facets) {
    const focused = document.activeElement?.id;
    show(this.orders, ...ORDERS.map(([value, label, title]) => this.#order(value, label, title, facets)));
    show(this.choices,
      this.#score(),
      this.#choice("selected_by", "Selected for", facets?.selected_by, (value) => REASONS[value] ?? value),
      this.#choice("milestone", "Milestone", facets && [{ value: "any", segments: NaN }, ...facets.milestones], (value) => (value === "any" ? "any milestone" : inWords(value))),
      this.#choice("max_agreement", "Judges", [{ value: "0.99", segments: NaN }, { value: "0.67", segments: NaN }], (value) => (value === "0.99" ? "not unanimous" : "at most two of three agree")),
      this.#choice("reward_model_version", "Live model", facets?.reward_model_versions, (value) => `v${value}`),
      this.#choice("run", "Run", facets?.runs, (value) => value),
      this.#room(),
      h("button", { type: "button", class: "quiet", disabled: Object.keys(this.#filters).length === 0, onclick: () => this.#set({}) }, "Clear"));
    if (focused) document.getElementById(focused)?.focus();
  }

  /** @param {string} value @param {string} label @param {string} title @param {Facets | null} facets */
  #order(value, label, title, facets) {
    const pressed = (this.#filters.order ?? "newest") === value;
    const none = value === "model_gap" && facets && !facets.with_model_gap;
    const why = none ? "Not enough scored segments of one reward model to compare ranks" : title;
    return h("button", { type: "button", id: `order-${value}`, "aria-pressed": String(pressed), title: why, onclick: () => this.#put("order", value === "newest" ? "" : value) }, label);
  }

  /** @param {string} name @param {string} label @param {Facet[] | null | undefined} facets @param {(value: string) => string} text */
  #choice(name, label, facets, text) {
    const now = this.#filters[name] ?? "";
    const values = facets ?? [];
    const known = now === "" || values.some(({ value }) => value === now);
    const options = [h("option", { value: "" }, "any"), ...(known ? [] : [h("option", { value: now }, text(now))]),
      ...values.map(({ value, segments }) => h("option", { value }, Number.isNaN(segments) ? text(value) : `${text(value)} (${count(segments)})`))];
    const select = h("select", { id: `filter-${name}`, onchange: () => this.#put(name, select.value) }, ...options);
    select.value = now;
    return h("label", {}, h("span", {}, label), select);
  }

  #score() {
    const field = (/** @type {string} */ name, /** @type {string} */ label) => {
      const input = h("input", { id: `filter-${name}`, type: "number", min: 0, max: 1, step: 0.05, "aria-label": label, placeholder: name === "min_score" ? "0" : "1", value: this.#filters[name], onchange: () => this.#put(name, input.value) });
      return input;
    };
    return h("div", { class: "range", role: "group", "aria-label": "Score" }, h("span", {}, "Score"), field("min_score", "Minimum score"), "–", field("max_score", "Maximum score"));
  }

  /** A room is chosen on the map; here it can be let go. */
  #room() {
    const room = this.#filters.room;
    return room ? h("button", { type: "button", class: "chip", title: "Remove this filter", onclick: () => this.#put("room", "") }, `room ${room} ✕`) : null;
  }

  /** @param {string} name @param {string} value */
  #put(name, value) {
    const filters = { ...this.#filters, [name]: value };
    if (!value) delete filters[name];
    this.#set(filters);
  }

  /** @param {Record<string, string>} filters */
  #set(filters) {
    this.#filters = filters;
    this.#changed(filters);
  }
}
