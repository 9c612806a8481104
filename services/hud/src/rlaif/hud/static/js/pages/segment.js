// A segment's page: its parts share one cursor over its steps.

import { Cursor } from "../charts/axis.js";
import { h, show } from "../dom.js";
import { mountPay } from "../panels/segments/pay.js";
import { Player } from "../panels/segments/player.js";
import { headOf, judgesOf, scoreOf } from "../panels/segments/score.js";
import { empty } from "../parts.js";
import { Scope } from "../scope.js";
import { addressOfSegment, found } from "../segments/found.js";
import { copy, short } from "../segments/names.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: ({ segment_id: id }) => `Segment ${short(id)}`,
  mount: (root, app, params) => mountSegment(root, app, params),
};

/** @typedef {import("../app.js").App} App */

class Segment {
  /** Ends when the last step along the list that a key asked for was taken. @type {Promise<void>} */
  #steps = Promise.resolve();

  /** @param {HTMLElement} root @param {App} app @param {import("../router.js").Params} params @param {Scope} scope */
  constructor(root, app, params, scope) {
    this.app = app;
    this.scope = scope;
    this.name = { episode_id: params.episode_id, segment_id: params.segment_id };
    this.heading = this.name;
    this.label = h("span", {}, "Copy link");
    this.address = `/api/v1${addressOfSegment(this.name)}`;
    this.cursor = new Cursor();
    this.head = panel("segment-head", "Segment");
    this.film = panel("film", "Film");
    this.score = panel("worth-of", "Score");
    this.judges = panel("judges-of", "Judges");
    this.pay = panel("pay-of", "Reward per step");
    show(root, this.head.frame, this.film.frame, this.score.frame, this.pay.frame, this.judges.frame);
    this.player = new Player(this.film.body, { app, cursor: this.cursor, scope, step: stepOf(params.query, "step"), frame: stepOf(params.query, "f") });
    for (const each of [this.score, this.judges, this.pay]) show(each.body, empty("Loading from the object store."));
    show(this.head.body, headOf(this.name, null, this.#neighbours()));
    scope.add(app.keys.bind({
      j: { label: "Next segment in the list", run: () => this.#go(1) },
      k: { label: "Previous segment", run: () => this.#go(-1) },
      c: { label: "Copy a link to this step", run: () => this.#copy() },
      ...this.player.bindings,
    }, "Segment"));
    this.player.load(`${this.address}/pack`);
    this.#read();
    this.#readSteps();
  }

  async #read() {
    try {
      const detail = await this.app.api.get(this.address);
      show(this.head.body, headOf(this.name, detail, this.#neighbours()));
      show(this.score.body, ...scoreOf(detail));
      show(this.judges.body, ...judgesOf(detail));
      this.player.offer(detail.video_url, detail.pictures_are);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      for (const each of [this.score, this.judges]) show(each.body, failed(why));
      show(this.head.body, headOf(this.name, null, this.#neighbours()), failed(why));
    }
  }

  async #readSteps() {
    try {
      const report = await this.app.api.get(`${this.address}/steps`);
      this.player.follow(report.steps);
      mountPay(this.pay.body, report, this.cursor, this.scope);
    } catch (error) {
      show(this.pay.body, failed(error instanceof Error ? error.message : String(error)));
    }
  }

  #neighbours() {
    this.label = h("span", {}, "Copy link");
    return h("div", { class: "neighbours" },
      h("button", { type: "button", "aria-keyshortcuts": "k", onclick: () => this.#go(-1) }, "◀ Before ", h("kbd", {}, "K")),
      h("button", { type: "button", "aria-keyshortcuts": "j", onclick: () => this.#go(1) }, "Next ▶ ", h("kbd", {}, "J")),
      h("button", { type: "button", "aria-keyshortcuts": "c", onclick: () => this.#copy() }, this.label, " ", h("kbd", {}, "C")));
  }

  /** @param {number} by */
  #go(by) {
    this.#steps = this.#steps.then(() => this.#step(by));
  }

  /** A key pressed before the next segment is ready continues from that segment. @param {number} by */
  async #step(by) {
    try {
      const name = await found.neighbour(this.app.api, this.heading.segment_id, by);
      if (name) {
        this.heading = name;
        this.app.go(addressOfSegment(name));
      } else {
        this.app.announce(by > 0 ? "This is the last segment of the list" : "This is the first segment of the list");
      }
    } catch (error) {
      this.app.announce(`The list is unavailable: ${error instanceof Error ? error.message : error}`);
    }
  }

  async #copy() {
    this.player.tellAddress();
    const worked = await copy(location.href, this.label);
    this.app.announce(worked ? "Link copied" : "The browser does not allow copying here; the link is in the address bar");
  }
}

/** A panel of this page. @param {string} id @param {string} title */
function panel(id, title) {
  const body = h("div", { id });
  return { body, frame: h("section", { class: `panel ${id}`, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), body) };
}

/** @param {string} why */
const failed = (why) => h("p", { class: "notice", "data-tone": "bad", role: "alert" }, "Unavailable: ", why);

/** A whole number of the address, or null. @param {URLSearchParams} query @param {string} name */
function stepOf(query, name) {
  const text = query.get(name);
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/** @param {HTMLElement} root @param {App} app @param {import("../router.js").Params} params */
export function mountSegment(root, app, params) {
  const scope = new Scope();
  new Segment(root, app, params, scope);
  return () => scope.end();
}
