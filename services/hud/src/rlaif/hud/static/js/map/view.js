// What the map's panels share: the rooms, the players, the layer and the room that were chosen; the address says the last two.

import { Answer } from "../answer.js";
import { authorised, GivenUp } from "../api.js";
import { Scope } from "../dom.js";
import { called, keyOf, layerNamed } from "./layers.js";

export const MAP = "/api/v1/map";
export const ENVIRONMENTS = "/api/v1/environments";
const ROOMS_EVERY = 3000; // ms; the reporting interval of the trainer
const PLAYERS_EVERY = 1000;

export class View {
  #scope = new Scope();
  /** @type {Set<() => void>} */
  #watchers = new Set();
  /** @type {Answer | undefined} */
  #rooms;
  /** @type {Answer | undefined} */
  #players;
  /** Why the selected screen cannot be shown. @type {string | null} */
  refusal = null;

  /** @param {import("../app.js").App} app @param {URLSearchParams} query */
  constructor(app, query) {
    this.app = app;
    this.layer = layerNamed(query.get("layer"));
    this.room = query.get("room");
  }

  open() {
    const { app } = this;
    this.#rooms = new Answer(app, this.#scope, { path: MAP, every: ROOMS_EVERY }).watch(() => this.#changed());
    this.#players = new Answer(app, this.#scope, { path: ENVIRONMENTS, every: PLAYERS_EVERY }).watch(() => this.#changed());
  }

  close() {
    this.#scope.end();
  }

  /** Call `draw()` after each change. @param {() => void} draw */
  watch(draw) {
    this.#watchers.add(draw);
    return () => this.#watchers.delete(draw);
  }

  /** The response of `MAP`; null before the first one. */
  get world() {
    return this.#rooms?.value ?? null;
  }

  /** The response of `ENVIRONMENTS`. */
  get positions() {
    return this.#players?.value ?? null;
  }

  /** Why the last request failed; null if it did not. */
  get problem() {
    return this.#rooms?.problem ?? this.#players?.problem ?? null;
  }

  /** @returns {readonly any[]} */
  get rooms() {
    return this.world?.rooms ?? [];
  }

  /** @returns {readonly any[]} */
  get players() {
    return this.positions?.environments ?? [];
  }

  /** The room that was chosen; null when it is not on the map. */
  get chosen() {
    return this.rooms.find((room) => keyOf(room) === this.room) ?? null;
  }

  showLayer(name) {
    this.layer = layerNamed(name);
    this.app.setQuery({ layer: this.layer.name === "rooms" ? null : this.layer.name });
    this.app.announce(`Map layer: ${this.layer.label}`);
    this.#changed();
  }

  choose(key) {
    this.room = key === this.room ? null : key;
    this.app.setQuery({ room: this.room });
    this.#changed();
  }

  /** Show this environment's screen on all pages. @param {string} env */
  async showScreen(env) {
    this.refusal = null;
    try {
      await authorised(() => this.app.api.post("/api/v1/watched", { env }), "select the screen shown on all pages");
      this.app.announce(`Switching to the screen of ${env}`);
    } catch (error) {
      this.refusal = error instanceof GivenUp ? null : `${env} cannot be shown: ${error instanceof Error ? error.message : error}`;
    }
    this.#changed();
  }

  /** What the room of a player is called. @param {{group: number, room: number}} at */
  nameOf(at) {
    const room = this.rooms.find(({ group, room: number }) => group === at.group && number === at.room);
    return called({ name: null, ...(room ?? at) });
  }

  #changed() {
    for (const draw of [...this.#watchers]) draw();
  }
}
