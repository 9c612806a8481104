// The review's pairs: loaded ahead, and played in sync, pixel by pixel as exported.

import { addressOfSegment } from "../routes.js";
import { fetchFilm, FilmScreen, leader, nudged, otherSpeed, shownAt, ticked } from "../segments/film.js";

/** @typedef {import("../segments/film.js").Film} Film */
/** @typedef {{a: Film, b: Film}} Films */

const ASKED = 4; // pairs that are requested at a time
const SIDES = /** @type {const} */ (["a", "b"]);

/** Both films of a pair. @param {Pair} pair @returns {Promise<Films>} */
export async function loadFilms({ a, b }) {
  const [one, other] = await Promise.all([a, b].map((clip) => fetchFilm(`/api/v1${addressOfSegment(clip)}/pack`)));
  return { a: one, b: other };
}

export class PairPlayer {
  /** @type {Films | null} */
  #films = null;
  #clock = { frame: 0, rested: 0 };
  #last = 0;
  #visit = 0;
  /** @type {number | null} */
  #request = null;
  playing = false;
  speed = 1;

  /** @param {{a: HTMLCanvasElement, b: HTMLCanvasElement}} canvases @param {() => void} moved  called after each change */
  constructor(canvases, moved) {
    this.screens = { a: new FilmScreen(canvases.a), b: new FilmScreen(canvases.b) };
    this.moved = moved;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  /** Show a pair from its beginning; it plays unless motion is unwanted. @param {Films} films */
  async show(films) {
    this.clear();
    const visit = ++this.#visit;
    this.#films = films;
    this.#clock = { frame: this.lead[0].frame, rested: 0 };
    await Promise.all(SIDES.map((side) => this.screens[side].load(films[side], (number) => number === 0 && this.#draw())));
    if (visit === this.#visit && !this.still.matches) this.play(true);
  }

  /** Nothing is shown any more; the memory is given back. */
  clear() {
    this.#visit += 1;
    this.play(false);
    this.#films = null;
    for (const side of SIDES) this.screens[side].clear();
  }

  /** Pictures of the film that lasts longer. */
  get lead() {
    const { a, b } = /** @type {Films} */ (this.#films);
    return leader(a.index.pictures, b.index.pictures);
  }

  get ready() {
    return this.#films !== null;
  }

  /** Game frame that is shown. */
  get frame() {
    return this.#clock.frame;
  }

  /** Emulator step that is shown of each clip, and its last one. @returns {{a: [number, number], b: [number, number]} | null} */
  get steps() {
    if (!this.#films) return null;
    const { a, b } = this.#films;
    const at = shownAt(a.index.pictures, b.index.pictures, this.#clock.frame);
    const of = (/** @type {Film} */ film, /** @type {number} */ shown) => /** @type {[number, number]} */ ([film.index.pictures[shown].step, film.index.pictures[film.index.pictures.length - 1].step]);
    return { a: of(a, at.a), b: of(b, at.b) };
  }

  play(on) {
    this.playing = on && this.ready;
    if (this.#request !== null) cancelAnimationFrame(this.#request);
    this.#request = null;
    if (this.playing) {
      this.#last = performance.now();
      this.#request = requestAnimationFrame((now) => this.#tick(now));
    }
    this.moved();
  }

  /** To a game frame. @param {number} frame */
  seek(frame) {
    if (!this.ready) return;
    this.#clock = { frame, rested: 0 };
    this.#draw();
  }

  /** So many pictures on, or back. @param {number} by */
  nudge(by) {
    if (!this.ready) return;
    this.play(false);
    this.seek(nudged(this.lead, this.#clock.frame, by));
  }

  faster(by) {
    this.speed = otherSpeed(this.speed, by);
    this.moved();
  }

  #tick(now) {
    const passed = Math.min(100, now - this.#last); // a tab that slept does not jump
    this.#last = now;
    this.#clock = ticked(this.lead, this.#clock, passed, this.speed);
    this.#draw();
    if (this.playing) this.#request = requestAnimationFrame((again) => this.#tick(again));
  }

  #draw() {
    if (!this.#films) return;
    const at = shownAt(this.#films.a.index.pictures, this.#films.b.index.pictures, this.#clock.frame);
    for (const side of SIDES) if (this.screens[side].decoded) this.screens[side].show(Math.min(at[side], this.screens[side].decoded - 1));
    this.moved();
  }
}

/**
 * @typedef {{segment_id: string, episode_id: string, decision_steps: number}} Clip
 * @typedef {{pair_id: string, a: Clip, b: Clip}} Pair
 */

/** Pairs to review, each once; the films of the next one are loaded while one is shown. @template Films */
export class Queue {
  /** @type {{pair: Pair, films: Promise<Films>} | null} */
  #next = null;
  /** @type {Set<string>} shown in this view; the HUD may name them again */
  #taken = new Set();
  /** Number of labels that pairs are made of; null before the first answer. @type {number | null} */
  labels = null;

  /** @param {(limit: number) => Promise<{items: Pair[], labels: number}>} ask @param {(pair: Pair) => Promise<Films>} load */
  constructor(ask, load) {
    this.ask = ask;
    this.load = load;
  }

  /** The next pair, or null when there is none now. */
  async take() {
    let next = this.#next;
    this.#next = null;
    if (!next || this.#taken.has(next.pair.pair_id)) next = await this.#find();
    if (next) this.#taken.add(next.pair.pair_id);
    return next;
  }

  /** Load the films of the next pair; a failure is repeated when the pair is taken. */
  async prepare() {
    this.#next ??= await this.#find().catch(() => null);
  }

  /** A pair that came from elsewhere, such as the address. @param {Pair} pair */
  shown(pair) {
    this.#taken.add(pair.pair_id);
  }

  /** Forget the next pair: another person asks. */
  clear() {
    this.#next = null;
  }

  async #find() {
    const { items, labels } = await this.ask(ASKED);
    this.labels = labels;
    const pair = items.find(({ pair_id, a, b }) => !this.#taken.has(pair_id) && a.segment_id !== b.segment_id);
    if (!pair) return null;
    const films = this.load(pair);
    films.catch(() => undefined); // reported when the pair is shown
    return { pair, films };
  }
}
