// The list of segments: filters above, a page of rows below, more on demand.

import { h, keyed, setText, show } from "../dom.js";
import { ago, compact, count, messageOf, percent, reward, roomName, shortId, UNKNOWN } from "../format.js";
import { bar01, cell, empty, fig, table } from "../parts.js";
import { addressOfSegment } from "../routes.js";
import { addressOf, countOf, filtersOf, found, inWords, ORDERS, questionOf, REASONS } from "../segments/found.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: "Segments",
  mount(root, app, { query }, scope) {
    new List(root, app, query, scope);
  },
};

/** @typedef {import("../app.js").App} App */

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

  /** @param {HTMLElement} root @param {App} app @param {URLSearchParams} query @param {import("../dom.js").Scope} scope */
  constructor(root, app, query, scope) {
    this.app = app;
    this.filters = filtersOf(query);
    this.form = new Form(this.filters, (filters) => this.#change(filters));
    this.summary = h("p", { class: "sub", role: "status" }, " ");
    this.news = h("button", { type: "button", class: "news", hidden: true, onclick: () => this.read() });
    const { body, frame } = table({ look: "segments", heads: HEADS, name: "List of segments", region: "wide" });
    this.body = body;
    this.table = frame;
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

  #draw(facets) {
    keyed(this.body, this.#rows, versionOf, rowOf);
    const more = this.#next !== null && this.#rows.length < MOST;
    this.more.hidden = !more;
    this.table.hidden = !this.#rows.length;
    this.none.hidden = this.#rows.length > 0;
    if (!this.#rows.length) show(this.none, empty(nothing(facets, countOf(this.filters))));
    this.#facets = facets ?? this.#facets;
    const known = this.#facets;
    show(this.summary, fig("segment-list.length", count(this.#rows.length)), more ? " shown, more available." : " shown.", known ? h("span", {}, " In all: ", fig("facets.segments", count(known.segments)), known.segments === 1 ? " segment, " : " segments, ", fig("facets.scored", count(known.scored)), " scored.") : null);
  }

  #failed(error) {
    this.table.hidden = !this.#rows.length;
    this.none.hidden = false;
    show(this.none, h("p", { class: "notice", "data-tone": "bad", role: "alert" }, "The list is unavailable: ", messageOf(error), " ", h("button", { type: "button", onclick: () => this.read() }, "Try again")));
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

function nothing(facets, filters) {
  if (filters && facets?.segments) return "No segment matches these filters.";
  if (facets?.segments) return "This order requires scores; there are none yet.";
  return "No segment exported yet. The first one appears about a minute after training starts.";
}

const ROOMS = 3;

export const HEADS = ["Segment", "Score", "Agreement", "Model vs. judges", "Selected for", "Content", "Step", "Rationale"];

/** What changes the look of a row. @param {any} row */
export const versionOf = (row) => `${row.segment_id} ${row.scored_at} ${row.score !== null} ${row.score_problem} ${row.model_gap}`;

export function rowOf(row) {
  const field = (/** @type {string} */ name) => `segment-list.${row.segment_id}.${name}`;
  return h("tr", { "data-segment": row.segment_id },
    h("td", {}, h("a", { class: "open reported", href: addressOfSegment(row), title: row.segment_id }, shortId(row.segment_id)), h("small", {}, when(row))),
    h("td", { class: "score", "data-label": "Score" }, ...bar01(field("weighted"), row.weighted, { kind: "weighted", title: row.scored_at ? null : "Not judged yet" })),
    cell("Agreement", fig(field("votes_agreement"), percent(row.votes_agreement), "Mean over the criteria decided by votes")),
    cell("Model vs. judges", ...gapOf(row, field)),
    cell("Selected for", row.selected_by ? (REASONS[row.selected_by] ?? row.selected_by) : UNKNOWN, row.reward_model_version ? h("small", {}, fig(field("reward_model_version"), `v${row.reward_model_version}`), " was in use") : null),
    h("td", { class: "shows", "data-label": "Content" }, ...(row.milestones ?? []).map((/** @type {string} */ name) => h("span", { class: "tag good reported" }, inWords(name))), h("span", { class: "reported" }, placesOf(row))),
    cell("Step", fig(field("env_step"), compact(row.env_step), row.env_step === null ? null : count(row.env_step))),
    wordsOf(row));
}

/** Of the newest segments only: the others have theirs on their own page. @param {any} row */
function wordsOf({ score, score_problem: problem }) {
  const first = score?.rationales[0];
  const text = problem ?? first?.text ?? "";
  return h("td", { class: "rationale" }, h("span", { title: first ? `${first.judge}: ${text}` : null }, text));
}

function when(row) {
  if (row.scored_at) return ago(row.scored_at, { prefix: "judged " });
  if (row.exported_at) return ago(row.exported_at, { prefix: "waiting ", suffix: " for judges" });
  return ago(row.captured_at, { prefix: "captured " });
}

/** @param {any} row @param {(name: string) => string} field @returns {import("../dom.js").Child[]} */
function gapOf({ model_gap: gap, model_gap_of: of }, field) {
  if (gap === null) return [h("span", { title: "No model was in use, or too few scored segments of it" }, UNKNOWN)];
  const who = gap > 0 ? "model ranks it higher" : gap < 0 ? "judges rank it higher" : "same rank";
  return [fig(field("model_gap"), reward(gap), `Ranks from 0 to 1 among ${of} segments of this version: model minus judges`), h("small", {}, who)];
}

function placesOf({ rooms, room_names: known }) {
  if (!rooms) return UNKNOWN;
  const names = rooms.map((/** @type {[number, number]} */ [group, room], /** @type {number} */ at) => roomName({ group, room, name: known?.[at] }));
  const more = names.length > ROOMS ? ` and ${names.length - ROOMS} more` : "";
  return names.slice(0, ROOMS).join(" → ") + more;
}

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
      this.#choice("max_agreement", "Judges", [{ value: "0.99", segments: NaN }, { value: "0.67", segments: NaN }], (value) => ({ 0.99: "not unanimous", 0.67: "at most two of three agree" })[value] ?? `agreement of at most ${value}`),
      this.#choice("reward_model_version", "Reward model", facets?.reward_model_versions, (value) => `v${value}`),
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
