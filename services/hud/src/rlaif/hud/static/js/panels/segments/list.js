// The list of segments: filters above, a page of rows below, more on demand. It never moves under the reader's hands.

import { h, keyed, setText, show } from "../../dom.js";
import { count } from "../../format.js";
import { empty, fig } from "../../parts.js";
import { Scope } from "../../scope.js";
import { addressOf, countOf, filtersOf, questionOf } from "../../segments/filters.js";
import { found } from "../../segments/found.js";
import { Form } from "./form.js";
import { HEADS, rowOf, versionOf } from "./row.js";

/** @typedef {import("../../app.js").App} App */

const PAGE = 30;
const MOST = 600;

class List {
  /** @type {any[]} */
  #rows = [];
  /** @type {string | null} */
  #next = null;
  #asked = 0;
  /** @type {any} */
  #facets = null;
  /** What had been judged when the list was read. @type {number | null} */
  #judged = null;

  /** @param {HTMLElement} root @param {App} app @param {URLSearchParams} query @param {Scope} scope */
  constructor(root, app, query, scope) {
    this.app = app;
    this.filters = filtersOf(query);
    this.form = new Form(this.filters, (filters) => this.#change(filters));
    this.summary = h("p", { class: "sub", role: "status" }, " ");
    this.news = h("button", { type: "button", class: "news", hidden: true, onclick: () => this.read() });
    this.body = h("tbody", {});
    this.table = h("table", { class: "segments" }, h("thead", {}, h("tr", {}, ...HEADS.map((name) => h("th", { scope: "col" }, name)))), this.body);
    this.none = h("div", { hidden: true });
    this.more = h("button", { type: "button", hidden: true, onclick: () => this.#readMore() }, "Show more");
    show(root, h("section", { class: "panel segment-list", "aria-labelledby": "segments-title" },
      h("h2", { id: "segments-title" }, "Segments"), this.form.element,
      h("div", { class: "list-head" }, this.summary, this.news), this.table, this.none, h("p", { class: "more" }, this.more)));
    scope.add(app.store.watch(["loop"], ({ loop }) => this.#heard(loop)));
    this.read();
  }

  /** @param {Record<string, string>} filters */
  #change(filters) {
    this.filters = filters;
    this.app.setQuery(addressOf(filters));
    this.read();
  }

  /** Reload the first page. */
  async read() {
    const visit = ++this.#asked;
    this.news.hidden = true;
    this.table.setAttribute("aria-busy", "true");
    this.#judged = this.app.store.state.loop?.scored ?? null;
    try {
      const [page, facets] = await Promise.all([this.app.api.get(questionOf(this.filters, null, PAGE)), this.app.api.get("/api/v1/segments/facets")]);
      if (visit !== this.#asked) return; // meanwhile another list was asked for
      this.#rows = page.items;
      this.#next = page.next_cursor;
      found.set(this.filters, page.items, page.next_cursor);
      this.form.draw(facets);
      this.#draw(facets);
    } catch (error) {
      if (visit === this.#asked) this.#failed(error);
    } finally {
      this.table.removeAttribute("aria-busy");
    }
  }

  async #readMore() {
    const visit = this.#asked;
    this.more.disabled = true;
    try {
      const page = await this.app.api.get(questionOf(this.filters, this.#next, PAGE));
      if (visit !== this.#asked) return;
      const known = new Set(this.#rows.map(({ segment_id }) => segment_id));
      const fresh = page.items.filter((/** @type {any} */ { segment_id }) => !known.has(segment_id));
      this.#rows = [...this.#rows, ...fresh];
      this.#next = page.next_cursor;
      found.add(fresh, page.next_cursor);
      this.#draw(null);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.more.disabled = false;
    }
  }

  /** @param {any} facets */
  #draw(facets) {
    keyed(this.body, this.#rows, versionOf, rowOf);
    const more = this.#next !== null && this.#rows.length < MOST;
    this.more.hidden = !more;
    this.table.hidden = !this.#rows.length;
    this.none.hidden = this.#rows.length > 0;
    if (!this.#rows.length) show(this.none, empty(nothing(facets, countOf(this.filters))));
    this.#facets = facets ?? this.#facets;
    const known = this.#facets;
    show(this.summary, fig("segment-list.length", count(this.#rows.length)), more ? " shown, more available." : " in total.", known ? h("span", {}, " Known to the HUD: ", fig("facets.segments", count(known.segments)), ", ", fig("facets.scored", count(known.scored)), " scored.") : null);
  }

  /** @param {unknown} error */
  #failed(error) {
    this.table.hidden = !this.#rows.length;
    this.none.hidden = false;
    show(this.none, h("p", { class: "notice", "data-tone": "bad", role: "alert" }, "The list is unavailable: ", error instanceof Error ? error.message : String(error), " ", h("button", { type: "button", onclick: () => this.read() }, "Try again")));
  }

  /** New scores are offered, never pushed in between. @param {any} loop */
  #heard(loop) {
    const judged = loop?.scored ?? null;
    if (judged === null) return;
    this.#judged ??= judged;
    const fresh = judged - /** @type {number} */ (this.#judged);
    this.news.hidden = fresh <= 0;
    if (fresh > 0) setText(this.news, `Show ${count(fresh)} newly scored`);
  }
}

/** @param {any} facets @param {number} filters */
function nothing(facets, filters) {
  if (filters && facets?.segments) return "No segment matches these filters.";
  if (facets?.segments) return "This order requires scores; there are none yet.";
  return "No segment exported yet. The first one appears about a minute after training starts.";
}

/** @param {HTMLElement} root @param {App} app @param {URLSearchParams} query */
export function mountList(root, app, query) {
  const scope = new Scope();
  new List(root, app, query, scope);
  return () => scope.end();
}
