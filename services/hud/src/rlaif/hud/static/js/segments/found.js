// The list that the reader came from, so that J and K go along it.

import { questionOf } from "./filters.js";

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

  /**
   * The neighbour of a segment, `by` places on; null at an end. A segment that the list does not have is looked for in the newest ones.
   *
   * @param {Api} api @param {string} segment @param {number} by @returns {Promise<Name | null>}
   */
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

  /** @param {string} segment */
  #at(segment) {
    return this.items.findIndex(({ segment_id }) => segment_id === segment);
  }
}

export const found = new Found();

/** The address of a segment's page. @param {Name} name */
export const addressOfSegment = ({ episode_id, segment_id }) => `/segments/${episode_id}/${segment_id}`;
