// Gives frames that came together one after the other, at the pace at which they were taken.

import { readHeader } from "./frame-header.js";

const LONGEST = 100; // ms between two frames of a group; a game that stood still in between is not waited for

export class Pace {
  /** @type {ArrayBuffer[]} */
  #waiting = [];
  /** @type {number | undefined} */
  #timer;

  /** @param {(frame: ArrayBuffer) => void} give */
  constructor(give) {
    this.give = give;
  }

  /** Frames came; those of before that still wait are late, and are given at once. @param {ArrayBuffer[]} frames */
  take(frames) {
    clearTimeout(this.#timer);
    for (const late of this.#waiting.splice(0)) this.give(late);
    this.#waiting = [...frames];
    this.#next();
  }

  #next() {
    const frame = this.#waiting.shift();
    if (!frame) return;
    this.give(frame);
    if (!this.#waiting.length) return;
    const pause = readHeader(this.#waiting[0]).captured - readHeader(frame).captured;
    this.#timer = setTimeout(() => this.#next(), Math.min(LONGEST, Math.max(0, pause)));
  }
}
