// Plays two films in sync on two canvases. What is shown is what was exported, pixel by pixel.

import { ApiProblem } from "../api.js";
import { BASE } from "../routes.js";
import { decodeFilm, leader, nudged, otherSpeed, readFilm, shownAt, ticked } from "../segments/film.js";

/** @typedef {import("../segments/film.js").Film} Film */
/** @typedef {{a: Film, b: Film}} Films */

/** The film of a segment. @param {{episode_id: string, segment_id: string}} clip @returns {Promise<Film>} */
export async function loadFilm({ episode_id, segment_id }) {
  const answer = await fetch(`${BASE}/api/v1/segments/${episode_id}/${segment_id}/pack`);
  if (answer.ok) return readFilm(await answer.arrayBuffer());
  const problem = await answer.json().catch(() => null);
  throw new ApiProblem({ title: problem?.title ?? "A clip is unavailable", detail: problem?.detail ?? `HTTP ${answer.status}`, status: answer.status });
}

/** Both films of a pair. @param {import("./queue.js").Pair} pair @returns {Promise<Films>} */
export async function loadFilms({ a, b }) {
  const [one, other] = await Promise.all([loadFilm(a), loadFilm(b)]);
  return { a: one, b: other };
}

export class PairPlayer {
  /** @type {Films | null} */
  #films = null;
  /** @type {{a: ImageBitmap[], b: ImageBitmap[]}} */
  #pictures = { a: [], b: [] };
  #clock = { frame: 0, rested: 0 };
  #last = 0;
  #visit = 0;
  /** @type {number | null} */
  #request = null;
  playing = false;
  speed = 1;

  /** @param {{a: HTMLCanvasElement, b: HTMLCanvasElement}} canvases @param {() => void} moved  called after each change */
  constructor(canvases, moved) {
    this.canvases = canvases;
    this.moved = moved;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  /** Show a pair from its beginning; it plays unless motion is unwanted. @param {Films} films */
  async show(films) {
    this.clear();
    const visit = ++this.#visit;
    this.#films = films;
    this.#clock = { frame: this.lead[0].frame, rested: 0 };
    await Promise.all(/** @type {const} */ (["a", "b"]).map((side) => this.#decode(side, films[side], visit)));
    if (visit === this.#visit && !this.still.matches) this.play(true);
  }

  /** Nothing is shown any more; the memory is given back. */
  clear() {
    this.#visit += 1;
    this.play(false);
    this.#films = null;
    for (const side of /** @type {const} */ (["a", "b"])) {
      for (const picture of this.#pictures[side].splice(0)) picture.close();
      const canvas = this.canvases[side];
      canvas.getContext("2d")?.clearRect(0, 0, canvas.width, canvas.height);
    }
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

  /** Decision step that is shown of each clip, and its last one. @returns {{a: [number, number], b: [number, number]} | null} */
  get steps() {
    if (!this.#films) return null;
    const { a, b } = this.#films;
    const at = shownAt(a.index.pictures, b.index.pictures, this.#clock.frame);
    const of = (/** @type {Film} */ film, /** @type {number} */ shown) => /** @type {[number, number]} */ ([film.index.pictures[shown].step, film.index.pictures[film.index.pictures.length - 1].step]);
    return { a: of(a, at.a), b: of(b, at.b) };
  }

  /** @param {boolean} on */
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

  /** @param {number} by */
  faster(by) {
    this.speed = otherSpeed(this.speed, by);
    this.moved();
  }

  /** @param {number} now */
  #tick(now) {
    const passed = Math.min(100, now - this.#last); // a tab that slept does not jump
    this.#last = now;
    this.#clock = ticked(this.lead, this.#clock, passed, this.speed);
    this.#draw();
    if (this.playing) this.#request = requestAnimationFrame((again) => this.#tick(again));
  }

  /** @param {"a" | "b"} side @param {Film} film @param {number} visit */
  async #decode(side, film, visit) {
    await decodeFilm(film, (picture, number) => {
      if (visit !== this.#visit) {
        picture.close();
        throw new Error("another pair is shown");
      }
      this.#pictures[side].push(picture);
      if (number === 0) this.#draw();
    });
  }

  #draw() {
    if (!this.#films) return;
    const at = shownAt(this.#films.a.index.pictures, this.#films.b.index.pictures, this.#clock.frame);
    for (const side of /** @type {const} */ (["a", "b"])) {
      const pictures = this.#pictures[side];
      const picture = pictures[Math.min(at[side], pictures.length - 1)];
      if (!picture) continue;
      const context = /** @type {CanvasRenderingContext2D} */ (this.canvases[side].getContext("2d", { alpha: false }));
      context.imageSmoothingEnabled = false;
      context.drawImage(picture, 0, 0, this.canvases[side].width, this.canvases[side].height);
    }
    this.moved();
  }
}
