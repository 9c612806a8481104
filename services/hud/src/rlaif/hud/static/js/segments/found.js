// The list of segments, its filters and its order; names of segments.

import { h, setText } from "../dom.js";
import { shortId } from "../format.js";

/** @typedef {{episode_id: string, segment_id: string}} Name */
/** @typedef {{get: (path: string) => Promise<any>}} Api */

const PAGE = 50;
const MOST = 2000;

export class Found {
  /** @type {Name[]} */
  items = [];
  /** @type {Record<string, string>} */
  filters = {};
  /** @type {string | null} */
  next = null;

  /** Another list. @param {Record<string, string>} filters @param {Name[]} items @param {string | null} next */
  set(filters, items, next) {
    this.filters = filters;
    this.items = items.map(({ episode_id, segment_id }) => ({ episode_id, segment_id }));
    this.next = next;
  }

  /** Its next page. @param {Name[]} items @param {string | null} next */
  add(items, next) {
    this.set(this.filters, [...this.items, ...items].slice(0, MOST), this.items.length + items.length < MOST ? next : null);
  }

  /** The neighbour of a segment, `by` places on; null at an end. A segment that the list does not have is looked for in the newest ones. @param {Api} api @param {string} segment @param {number} by @returns {Promise<Name | null>} */
  async neighbour(api, segment, by) {
    let at = this.#at(segment);
    if (at < 0) {
      const page = await api.get(questionOf({}, null, PAGE));
      this.set({}, page.items, page.next_cursor);
      at = this.#at(segment);
      if (at < 0) return by > 0 ? (this.items[0] ?? null) : null;
    }
    if (at + by >= this.items.length && this.next) {
      const page = await api.get(questionOf(this.filters, this.next, PAGE));
      this.add(page.items, page.next_cursor);
    }
    return this.items[at + by] ?? null;
  }

  /** Where a segment stands: [3, 50], and whether there is more after. @param {string} segment @returns {{at: number, of: number, more: boolean} | null} */
  place(segment) {
    const at = this.#at(segment);
    return at < 0 ? null : { at: at + 1, of: this.items.length, more: this.next !== null };
  }

  #at(segment) {
    return this.items.findIndex(({ segment_id }) => segment_id === segment);
  }
}

export const found = new Found();

export const FILTERS = ["order", "run", "min_score", "max_score", "max_agreement", "milestone", "selected_by", "reward_model_version", "room", "scored"];

/** @type {[string, string, string][]} value, label, what it shows */
export const ORDERS = [
  ["newest", "Newest", "Most recently updated first"],
  ["disagreement", "Judges disagree", "Lowest agreement between votes first"],
  ["model_gap", "Judges vs. model", "Largest difference in rank between reward model and judges first, among segments of the same version"],
  ["highest_score", "Highest score", "Highest score first"],
  ["lowest_score", "Lowest score", "Lowest score first"],
];

/** What an address asks for; what is no filter, or empty, is left out. @param {URLSearchParams} query @returns {Record<string, string>} */
export function filtersOf(query) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value) found[name] = value;
  }
  if (found.order === "newest") delete found.order;
  return found;
}

/** The same as values of an address, with null for those that are not asked for. @param {Record<string, string>} filters @returns {Record<string, string | null>} */
export const addressOf = (filters) => Object.fromEntries(FILTERS.map((name) => [name, filters[name] ?? null]));

/** The question to the HUD. @param {Record<string, string>} filters @param {string | null} cursor @param {number} limit */
export function questionOf(filters, cursor, limit) {
  const query = new URLSearchParams({ ...filters, limit: String(limit) });
  if (cursor) query.set("cursor", cursor);
  return `/api/v1/segments?${query}`;
}

/** How many filters are set beside the order. @param {Record<string, string>} filters */
export const countOf = (filters) => Object.keys(filters).filter((name) => name !== "order").length;

const SAID = 1500; // ms

/** An id, as `shown`, with a button that copies all of it. @param {string} id @param {string} what @param {string} [shown] */
export function idOf(id, what, shown = shortId(id)) {
  const button = h("button", { type: "button", class: "copy", title: `Copy ${what}: ${id}`, "aria-label": `Copy ${what} ${id}`, onclick: () => copy(id, button) }, "copy");
  return h("span", { class: "id" }, h("code", { title: id }, shown), button);
}

/** Copy a text and confirm it on the button. @param {string} text @param {HTMLElement} button */
export async function copy(text, button) {
  const before = button.textContent ?? "";
  const worked = await written(text);
  setText(button, worked ? "copied" : "not allowed");
  setTimeout(() => setText(button, before), SAID);
  return worked;
}

async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not allowed, or not over https
  }
}

/** A story step in words: "seed_hall_key" → "seed hall key". @param {string} name */
export const inWords = (name) => name.replaceAll("_", " ");

/** Why a segment was captured, for people. @type {Record<string, string>} */
export const REASONS = {
  uniform: "uniform sample",
  disagreement: "model uncertainty",
  "new room": "new room",
  milestone: "milestone",
};
