// Films of segments: decoded in memory (format: rlaif.contracts.game.films), and which picture is shown when.

import { ApiProblem } from "../api.js";
import { based } from "../routes.js";
import { firstWhere } from "../screen.js";

/**
 * @typedef {object} Place  where a picture stands, and when
 * @property {number} step  emulator step after which it was taken
 * @property {number} frame  game frames until then
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number | null} camera_x  pixel of the room at the screen's left edge
 * @property {number | null} camera_y
 * @property {number} offset
 * @property {number} length  0 when nothing changed
 *
 * @typedef {{segment_id: string, type: string, width: number, height: number, pictures: Place[]}} FilmIndex
 * @typedef {{index: FilmIndex, body: Uint8Array<ArrayBuffer>}} Film
 */

const LENGTH = 4;

/** @param {ArrayBuffer} buffer @returns {Film} */
export function readFilm(buffer) {
  if (buffer.byteLength < LENGTH) throw new Error("the video is truncated");
  const start = LENGTH + new DataView(buffer).getUint32(0, true);
  if (start > buffer.byteLength) throw new Error("the video is truncated");
  const index = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, LENGTH, start - LENGTH)));
  if (index.version !== 1 || !index.pictures?.length) throw new Error("unsupported version of the video format");
  const body = new Uint8Array(buffer, start);
  if (index.pictures.some((/** @type {Place} */ { offset, length }) => offset + length > body.byteLength)) throw new Error("the video is truncated");
  return { index, body };
}

/** The film at a path of the HUD; throws an `ApiProblem`. @param {string} path @returns {Promise<Film>} */
export async function fetchFilm(path) {
  const answer = await fetch(based(path));
  if (answer.ok) return readFilm(await answer.arrayBuffer());
  const problem = await answer.json().catch(() => null);
  throw new ApiProblem({ title: problem?.title ?? "A video is unavailable", detail: problem?.detail ?? `HTTP ${answer.status}`, status: answer.status });
}

/** Shows the pictures of a film on a canvas. */
export class FilmScreen {
  /** @type {ImageBitmap[]} */
  #pictures = [];
  #visit = 0;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
  }

  /** Number of decoded pictures. */
  get decoded() {
    return this.#pictures.length;
  }

  /** Decode all pictures, each drawn over the one before; throws if another film is loaded meanwhile. @param {Film} film @param {(number: number) => void} each  called for every picture, so that the first is seen before the last is decoded */
  async load({ index, body }, each) {
    this.clear();
    const visit = this.#visit;
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [index.width, index.height];
    [this.canvas.width, this.canvas.height] = [index.width, index.height];
    const screen = /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d", { willReadFrequently: true }));
    for (const [number, { x, y, offset, length }] of index.pictures.entries()) {
      if (length) {
        const part = await createImageBitmap(new Blob([body.subarray(offset, offset + length)], { type: index.type }));
        screen.drawImage(part, x, y);
        part.close();
      }
      const picture = await createImageBitmap(sheet);
      if (visit !== this.#visit) {
        picture.close();
        throw new Error("another film is shown");
      }
      this.#pictures.push(picture);
      each(number);
    }
  }

  /** @param {number} number  below `decoded` */
  show(number) {
    this.canvas.getContext("2d", { alpha: false })?.drawImage(this.#pictures[number], 0, 0);
  }

  /** Show nothing, and free the memory. */
  clear() {
    this.#visit += 1;
    for (const picture of this.#pictures.splice(0)) picture.close();
    this.canvas.getContext("2d", { alpha: false })?.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }
}

export const FRAMES_A_SECOND = 59.7275; // of a Game Boy

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

/** The picture that is shown at a moment: the last one that was taken until then. @param {{frame: number}[]} pictures @param {number} frame */
export const pictureAt = (pictures, frame) => Math.max(0, firstWhere(pictures, (picture) => picture.frame > frame) - 1);

/** The picture of an emulator step, or of the last one before it that has any. @param {{step: number}[]} pictures @param {number} step */
export const pictureOfStep = (pictures, step) => Math.max(0, firstWhere(pictures, (picture) => picture.step > step) - 1);

/** Playback position after some time. It stops at the end; playing from the end restarts. @param {{frame: number}[]} pictures @param {number} frame  game frame now @param {number} milliseconds  that passed @param {number} speed */
export function advanced(pictures, frame, milliseconds, speed) {
  const end = pictures[pictures.length - 1].frame;
  const next = frame + (milliseconds / 1000) * FRAMES_A_SECOND * speed;
  return next >= end ? { frame: end, ended: true } : { frame: next, ended: false };
}

/** The next speed in a direction; the last one stays. @param {number} speed @param {number} by */
export function otherSpeed(speed, by) {
  const at = SPEEDS.indexOf(speed) + by;
  return SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at))];
}

/** Seconds of the game. @param {number} frame */
export const secondsOf = (frame) => frame / FRAMES_A_SECOND;

/** @typedef {{step: number, frame: number}[]} Pictures */

const REST = 45; // frames that the end is shown before both begin again

/** The one that lasts longer leads; the other rests at its end. @param {Pictures} a @param {Pictures} b */
export const leader = (a, b) => (a[a.length - 1].frame >= b[b.length - 1].frame ? a : b);

/** Which picture of each is shown at a frame. @param {Pictures} a @param {Pictures} b @param {number} frame */
export const shownAt = (a, b, frame) => ({ a: pictureAt(a, frame), b: pictureAt(b, frame) });

/** The clock after some time; after the end and a rest it begins again. @param {Pictures} lead @param {{frame: number, rested: number}} clock @param {number} milliseconds @param {number} speed @returns {{frame: number, rested: number}} */
export function ticked(lead, { frame, rested }, milliseconds, speed) {
  const next = advanced(lead, frame, milliseconds, speed);
  if (!next.ended) return { frame: next.frame, rested: 0 };
  const waited = rested + (milliseconds / 1000) * 60;
  return waited >= REST ? { frame: lead[0].frame, rested: 0 } : { frame: next.frame, rested: waited };
}

/** The frame so many pictures on. @param {Pictures} lead @param {number} frame @param {number} by */
export function nudged(lead, frame, by) {
  const at = pictureAt(lead, frame) + by;
  return lead[Math.min(lead.length - 1, Math.max(0, at))].frame;
}
