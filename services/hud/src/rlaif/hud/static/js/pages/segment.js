// A segment's page: its parts share one cursor over its steps.

import { Answer, panelOf } from "../api.js";
import { Cursor } from "../charts/axis.js";
import { h, show } from "../dom.js";
import { messageOf, shortId } from "../format.js";
import { payOf } from "../panels/segments/pay.js";
import { Player } from "../panels/segments/player.js";
import { headOf, judgesOf, scoreOf } from "../panels/segments/score.js";
import { mountPanels } from "../parts.js";
import { addressOfSegment } from "../routes.js";
import { copy, found } from "../segments/found.js";

const LOADING = "Loading from the object store.";

/** @type {import("../router.js").Page} */
export const page = {
  title: ({ segment_id: id }) => `Segment ${shortId(id)}`,
  mount(root, app, params, scope) {
    const name = { episode_id: params.episode_id, segment_id: params.segment_id };
    const address = `/api/v1${addressOfSegment(name)}`;
    const detail = new Answer(app, scope, { path: address });
    const steps = new Answer(app, scope, { path: `${address}/steps` });
    const cursor = new Cursor();
    const player = new Player({ app, cursor, scope, step: stepOf(params.query, "step"), frame: stepOf(params.query, "f") });
    const along = new Neighbours(app, name.segment_id, player);
    scope.add(mountPanels(root, app, [
      { id: "segment-head", title: "Segment", mount: (body) => void detail.watch(({ value }) => show(body, headOf(name, value, along.buttons()), detail.notice())) },
      { id: "film", title: "Film", mount: (body) => show(body, ...player.elements) },
      panelOf("worth-of", "Score", detail, scoreOf, LOADING),
      panelOf("pay-of", "Reward per emulator step", steps, (report) => payOf(report, cursor, scope), LOADING),
      panelOf("judges-of", "Judges", detail, judgesOf, LOADING),
    ]));
    detail.watch(({ value }) => value && player.offer(value.video_url, value.pictures_are));
    steps.watch(({ value }) => value && player.follow(value.steps));
    scope.add(app.keys.bind({ ...along.keys, ...player.bindings }, "Segment"));
    void player.load(`${address}/pack`);
  },
};

/** Buttons and keys to the segments before and after in the list, and for a link. */
class Neighbours {
  /** Ends when the last requested step along the list was taken. @type {Promise<void>} */
  #steps = Promise.resolve();
  #label = h("span", {}, "Copy link");

  /** @param {import("../app.js").App} app @param {string} heading  id of the segment that is open or being opened @param {Player} player */
  constructor(app, heading, player) {
    this.app = app;
    this.heading = heading;
    this.player = player;
  }

  /** @returns {Record<string, import("../shell.js").Binding>} */
  get keys() {
    return {
      j: { label: "Next segment in the list", run: () => this.#go(1) },
      k: { label: "Previous segment", run: () => this.#go(-1) },
      c: { label: "Copy a link to this step", run: () => void this.#copy() },
    };
  }

  buttons() {
    return h("div", { class: "neighbours" },
      h("button", { type: "button", "aria-keyshortcuts": "k", onclick: () => this.#go(-1) }, "◀ Before ", h("kbd", {}, "K")),
      h("button", { type: "button", "aria-keyshortcuts": "j", onclick: () => this.#go(1) }, "Next ▶ ", h("kbd", {}, "J")),
      h("button", { type: "button", "aria-keyshortcuts": "c", onclick: () => void this.#copy() }, this.#label, " ", h("kbd", {}, "C")));
  }

  #go(by) {
    this.#steps = this.#steps.then(() => this.#step(by));
  }

  /** A key pressed before the next segment is ready continues from that segment. @param {number} by */
  async #step(by) {
    try {
      const name = await found.neighbour(this.app.api, this.heading, by);
      if (name) {
        this.heading = name.segment_id;
        this.app.go(addressOfSegment(name));
      } else {
        this.app.announce(by > 0 ? "This is the last segment of the list" : "This is the first segment of the list");
      }
    } catch (error) {
      this.app.announce(`The list is unavailable: ${messageOf(error)}`);
    }
  }

  async #copy() {
    this.player.tellAddress();
    const worked = await copy(location.href, this.#label);
    this.app.announce(worked ? "Link copied" : "The browser does not allow copying here; the link is in the address bar");
  }
}

/** A whole number of the address, or null. @param {URLSearchParams} query @param {string} name */
function stepOf(query, name) {
  const text = query.get(name);
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}
