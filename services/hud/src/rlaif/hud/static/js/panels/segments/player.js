// The film of a segment: scrubbed and played in this page's memory, with the player's trajectory drawn on the room.

import { h, s, setText, show } from "../../dom.js";
import { count, duration, hex, messageOf, roomName } from "../../format.js";
import { signButton } from "../../parts.js";
import { advanced, fetchFilm, FilmScreen, otherSpeed, pictureAt, pictureOfStep, secondsOf, SPEEDS } from "../../segments/film.js";

const SECOND = 60; // game frames, nearly
const ADDRESS_PAUSE = 300; // ms without a movement before the address follows
const PATH_SHOWN = "rlaif.path";

export class Player {
  /** @type {import("../../segments/film.js").Place[]} */
  #places = [];
  /** Game frame, not only whole ones while it plays. */
  #frame = 0;
  #shown = -1;
  #speed = 1;
  /** @type {number | null} */
  #playing = null;
  #ended = false;
  /** @type {any[]} */
  #steps = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #address;

  /** @param {{app: import("../../app.js").App, cursor: import("../../charts/axis.js").Cursor, scope: import("../../dom.js").Scope, step: number | null, frame: number | null}} how */
  constructor({ app, cursor, scope, step, frame }) {
    this.app = app;
    this.cursor = cursor;
    this.wanted = { step, frame };
    this.canvas = h("canvas", { width: 160, height: 144, role: "img", "aria-label": "Game screen: not read yet" });
    this.screen = new FilmScreen(this.canvas);
    this.path = new PathLayer();
    this.overlay = h("div", { class: "overlay" }, "Loading the video.");
    this.slider = h("input", { type: "range", min: 0, max: 0, value: 0, disabled: true, "aria-label": "Emulator step", oninput: () => this.#seek(Number(this.slider.value), this.slider) });
    this.play = h("button", { type: "button", disabled: true, "aria-keyshortcuts": "Space", onclick: () => this.toggle() }, "Play");
    this.speed = h("select", { "aria-label": "Speed", title: "Speed: [ slower, ] faster", onchange: () => this.#setSpeed(Number(this.speed.value)) }, ...SPEEDS.map((value) => h("option", { value }, `${value}×`)));
    this.speed.value = "1";
    this.withPath = h("input", { type: "checkbox", onchange: () => this.#setPath(this.withPath.checked) });
    this.withPath.checked = localStorage.getItem(PATH_SHOWN) !== "off";
    this.save = h("span", { class: "save" });
    this.facts = h("p", { class: "moment reported" }, " ");
    this.elements = [
      h("div", { class: "screen" }, this.canvas, this.path.element, this.overlay), this.slider,
      h("div", { class: "controls" },
        signButton("◀", "Step back (arrow left)", () => this.#by(-1)), this.play, signButton("▶", "Step forward (arrow right)", () => this.#by(1)),
        this.speed, h("label", {}, this.withPath, " trajectory"), this.save),
      this.facts,
    ];
    scope.add(cursor.watch((at, source) => at !== null && source !== this && this.#seek(pictureOfStep(this.#places, at), source)));
    scope.add(() => this.#end());
    this.#setPath(this.withPath.checked);
  }

  /** What keys do. @returns {Record<string, import("../../shell.js").Binding>} */
  get bindings() {
    return {
      Space: { label: "Play or pause", run: () => this.toggle() },
      ArrowLeft: { label: "One step back", run: () => this.#by(-1) },
      ArrowRight: { label: "One step forward", run: () => this.#by(1) },
      "Shift+ArrowLeft": { label: "One second back", run: () => this.#bySecond(-1) },
      "Shift+ArrowRight": { label: "One second forward", run: () => this.#bySecond(1) },
      Home: { label: "To the start", run: () => this.#seek(0, null) },
      End: { label: "To the end", run: () => this.#seek(this.#places.length - 1, null) },
      "[": { label: "Slower", run: () => this.#setSpeed(otherSpeed(this.#speed, -1)) },
      "]": { label: "Faster", run: () => this.#setSpeed(otherSpeed(this.#speed, 1)) },
    };
  }

  /** @param {string} path  of the film */
  async load(path) {
    try {
      const film = await fetchFilm(path);
      if (this.#ended) return;
      this.#places = film.index.pictures;
      this.slider.max = String(this.#places.length - 1);
      const start = this.#start();
      await this.screen.load(film, (number) => number === start && this.#begin(start));
    } catch (error) {
      if (this.#ended) return;
      console.warn("the video could not be shown", error);
      setText(this.overlay, `No video: ${messageOf(error)}`);
    }
  }

  /** The steps of the segment, for words, path and cursor. @param {any[]} steps */
  follow(steps) {
    this.#steps = steps;
    this.#say();
  }

  /** The film as a file. @param {string | null} url @param {string} pictures */
  offer(url, pictures) {
    const few = pictures === "every step" ? null : h("span", { class: "quiet-text", title: "Exported before videos were supported" }, "pictures for some steps only");
    const file = url ? h("a", { class: "button", href: url, download: "", title: "Animated WebP, lossless" }, "Download video") : null;
    show(this.save, file, few);
  }

  toggle() {
    if (this.#playing !== null) return this.#pause();
    if (!this.#places.length) return;
    if (this.#frame >= this.#places[this.#places.length - 1].frame) this.#frame = this.#places[0].frame;
    setText(this.play, "Pause");
    let last = performance.now();
    const tick = (/** @type {number} */ now) => {
      const { frame, ended } = advanced(this.#places, this.#frame, Math.max(0, now - last), this.#speed);
      last = now;
      this.#frame = frame;
      this.#show(pictureAt(this.#places, frame), this);
      if (ended) return this.#pause();
      this.#playing = requestAnimationFrame(tick);
    };
    this.#playing = requestAnimationFrame(tick);
  }

  /** The moment that is shown, into the address. */
  tellAddress() {
    clearTimeout(this.#address);
    const place = this.#places[this.#shown];
    if (place && !this.#ended) this.app.setQuery({ step: place.step, f: null });
  }

  #start() {
    const { step, frame } = this.wanted;
    if (step !== null) return pictureOfStep(this.#places, step);
    return frame === null ? 0 : pictureAt(this.#places, frame);
  }

  #begin(start) {
    this.slider.disabled = this.play.disabled = false;
    setText(this.overlay, "");
    this.#seek(start, null);
    clearTimeout(this.#address); // opening a page is no movement
  }

  #by(by) {
    this.#seek(Math.min(this.#places.length - 1, Math.max(0, this.#shown + by)), null);
  }

  #bySecond(by) {
    const place = this.#places[this.#shown];
    if (place) this.#seek(pictureAt(this.#places, place.frame + by * SECOND), null);
  }

  #seek(number, source) {
    if (!this.#places[number]) return;
    this.#pause();
    this.#frame = this.#places[number].frame;
    this.#show(number, source);
    clearTimeout(this.#address);
    this.#address = setTimeout(() => this.tellAddress(), ADDRESS_PAUSE);
  }

  /** @param {number} number @param {unknown} source  origin of the move, which is not notified */
  #show(number, source) {
    if (number >= this.screen.decoded || number === this.#shown) return;
    this.#shown = number;
    this.screen.show(number);
    if (source !== this.slider) this.slider.value = String(number);
    this.#say();
    this.cursor.set(this.#places[number].step, this);
  }

  /** What is shown, in words, and the way to it. */
  #say() {
    const place = this.#places[this.#shown];
    if (!place) return;
    const step = this.#steps[place.step];
    const last = this.#places[this.#places.length - 1].step;
    const where = step ? [` · ${step.action}`, ` · ${roomName(step)}${step.name ? ` ${hex(step.room)}` : ""}`, step.x === null ? "" : ` (${step.x}, ${step.y})`, step.hearts === null ? "" : ` · ♥ ${step.hearts}`] : [];
    setText(this.facts, `Emulator step ${count(place.step)} of ${count(last)} · ${duration(secondsOf(place.frame))}${where.join("")}`);
    this.slider.setAttribute("aria-valuetext", this.facts.textContent ?? "");
    this.canvas.setAttribute("aria-label", `Game screen after emulator step ${place.step}${step ? `, ${roomName(step)}` : ""}`);
    this.path.draw(this.#steps, place);
  }

  #pause() {
    if (this.#playing === null) return;
    cancelAnimationFrame(this.#playing);
    this.#playing = null;
    setText(this.play, "Play");
    this.tellAddress();
  }

  #setSpeed(speed) {
    this.#speed = speed;
    this.speed.value = String(speed);
  }

  #setPath(on) {
    this.withPath.checked = on;
    this.path.element.toggleAttribute("hidden", !on);
    localStorage.setItem(PATH_SHOWN, on ? "on" : "off");
  }

  #end() {
    this.#ended = true;
    clearTimeout(this.#address);
    if (this.#playing !== null) cancelAnimationFrame(this.#playing);
    this.screen.clear();
  }
}

/**
 * @typedef {{step: number, group: number | null, room: number | null, x: number | null, y: number | null}} Step
 * @typedef {{camera_x: number | null, camera_y: number | null}} Camera
 * @typedef {[number, number]} Dot
 */

const STATUS_BAR = 16; // rows of the screen above the room
const SMALL = { width: 160, height: 128 };

/** @param {Step} a @param {Step} b */
const sameRoom = (a, b) => a.group === b.group && a.room === b.room;

/** @param {Step} step */
const known = ({ room, x, y }) => room !== null && x !== null && y !== null;

/**
 * The stay in the room of a step: the player's positions before, at and after it, until the player leaves.
 * Null if unknown: outside rooms, or in a large room with an unknown camera position.
 *
 * @param {Step[]} steps
 * @param {number} now  position in `steps`
 * @param {Camera} camera  of the picture that is shown
 * @returns {{before: Dot[], here: Dot, after: Dot[]} | null}
 */
export function pathAt(steps, now, camera) {
  const here = steps[now];
  if (!here || !known(here)) return null;
  let first = now;
  while (first > 0 && known(steps[first - 1]) && sameRoom(steps[first - 1], here)) first -= 1;
  let last = now;
  while (last < steps.length - 1 && known(steps[last + 1]) && sameRoom(steps[last + 1], here)) last += 1;
  const stay = steps.slice(first, last + 1);
  const offset = offsetOf(stay, camera);
  if (!offset) return null;
  const dots = stay.map(({ x, y }) => /** @type {Dot} */ ([Number(x) - offset[0], Number(y) - offset[1] + STATUS_BAR]));
  const at = now - first;
  return { before: dots.slice(0, at + 1), here: dots[at], after: dots.slice(at) };
}

/** @param {Step[]} stay @param {Camera} camera @returns {Dot | null} */
function offsetOf(stay, { camera_x: left, camera_y: top }) {
  if (left !== null && left !== undefined && top !== null && top !== undefined) return [left, top];
  const fits = stay.every(({ x, y }) => Number(x) < SMALL.width && Number(y) < SMALL.height);
  return fits ? [0, 0] : null;
}

/** For a polyline. @param {Dot[]} dots */
export const pointsOf = (dots) => dots.map(([x, y]) => `${x},${y}`).join(" ");

export class PathLayer {
  constructor() {
    this.element = s("svg", { class: "path", viewBox: "0 0 160 144", "aria-hidden": "true" });
  }

  /** @param {any[]} steps @param {import("../../segments/film.js").Place} place */
  draw(steps, place) {
    const path = pathAt(steps, place.step, place);
    if (!path) return show(this.element);
    const [x, y] = path.here;
    show(this.element,
      s("polyline", { class: "halo", points: pointsOf(path.before) }),
      s("polyline", { class: "after", points: pointsOf(path.after) }),
      s("polyline", { class: "before", points: pointsOf(path.before) }),
      s("circle", { class: "here", cx: x, cy: y, r: 3 }));
  }
}
