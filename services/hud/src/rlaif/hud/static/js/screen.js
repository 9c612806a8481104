// The screen of the game: draws the newest frame, whose header ScreenFrame of the contracts defines, and buffers the last minute.

/** The pixels as the bytes say, whatever profile the display has. @type {ImageBitmapOptions} */
const AS_STORED = { colorSpaceConversion: "none", premultiplyAlpha: "none" };

export class Screen {
  #context;
  #newest = null;
  #decoding = false;

  /** drawn({seq, step, captured}) is called after each frame. */
  constructor(canvas, drawn) {
    this.canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
    this.#context.imageSmoothingEnabled = false;
    this.drawn = drawn;
  }

  /** Show a frame; it replaces one that still waits. */
  receive(buffer) {
    this.#newest = buffer;
    if (!this.#decoding) this.#next();
  }

  async #next() {
    this.#decoding = true;
    while (this.#newest !== null) {
      const buffer = this.#newest;
      this.#newest = null;
      await this.#draw(buffer);
    }
    this.#decoding = false;
  }

  async #draw(buffer) {
    const header = readHeader(buffer);
    try {
      const picture = await createImageBitmap(new Blob([new Uint8Array(buffer, HEADER)], { type: "image/webp" }), AS_STORED);
      await new Promise((done) => requestAnimationFrame(done));
      this.#context.drawImage(picture, 0, 0, this.canvas.width, this.canvas.height);
      picture.close();
    } catch (error) {
      console.warn("a frame could not be drawn", error);
    }
    this.drawn(header);
  }
}

export const HEADER = 24; // bytes; the picture follows

const SEQUENCE = 8;
const CAPTURED = 12;
const STEP = 20;

/** @param {ArrayBuffer} buffer @returns {{seq: number, step: number, captured: number}} `captured` in ms since 1970, by the trainer's clock */
export function readHeader(buffer) {
  const view = new DataView(buffer, 0, HEADER);
  return {
    seq: view.getUint32(SEQUENCE, true),
    step: view.getUint32(STEP, true),
    captured: Number(view.getBigUint64(CAPTURED, true)) / 1000,
  };
}

/** Index of the first item where a condition holds that holds for all after it; the length when there is none. @template T @param {readonly T[]} items @param {(item: T) => boolean} holds */
export function firstWhere(items, holds) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * @typedef {object} Frame
 * @property {number} seq  of the HUD; rises by one with each that it sends
 * @property {number} at  when it came in
 * @property {ArrayBuffer} buffer
 * @typedef {"live" | "paused"} Mode
 */

const SPAN = 60_000; // ms that one can go back

/** Buffer of the last minute. Pausing stops the display, not the buffering. Times are ms of one clock, passed in. */
export class Rewind {
  /** @type {Frame[]} oldest first */
  #frames = [];
  #bytes = 0;
  /** @type {Frame | null} */
  #shown = null;
  /** @type {Mode} */
  mode = "live";

  /** @param {{show: (frame: Frame) => void, span?: number, most?: number, mostBytes?: number}} options  `most` frames; a minute of them has about 4 MB */
  constructor({ show, span = SPAN, most = 4000, mostBytes = 24e6 }) {
    this.show = show;
    this.span = span;
    this.most = most;
    this.mostBytes = mostBytes;
  }

  /** Add a frame. @param {Frame} frame */
  take(frame) {
    this.#frames.push(frame);
    this.#bytes += frame.buffer.byteLength;
    this.#forget();
    if (this.mode === "live") this.#draw(frame);
  }

  /** Drop all frames: the screen of another environment follows. */
  clear() {
    this.#frames = [];
    this.#bytes = 0;
    this.#shown = null;
    this.mode = "live";
  }

  get newest() {
    return this.#frames.at(-1) ?? null;
  }

  /** The displayed frame; null before the first. */
  get shown() {
    return this.#shown;
  }

  /** ms from the oldest frame to the newest. */
  get length() {
    return this.#frames.length ? this.#frames[this.#frames.length - 1].at - this.#frames[0].at : 0;
  }

  /** ms that the picture lies behind the newest frame. */
  get behind() {
    return this.#shown && this.newest ? Math.max(0, this.newest.at - this.#shown.at) : 0;
  }

  /** ms from the oldest frame to the one that is shown. */
  get position() {
    return this.#shown && this.#frames.length ? Math.max(0, this.#shown.at - this.#frames[0].at) : 0;
  }

  /** Whether the buffer is full while paused; no more frames are requested then. */
  get full() {
    return this.mode !== "live" && (this.behind >= 2 * this.span || this.#frames.length >= this.most || this.#bytes >= this.mostBytes);
  }

  pause() {
    if (this.#shown) this.mode = "paused";
  }

  goLive() {
    this.mode = "live";
    this.#forget();
    if (this.newest) this.#draw(this.newest);
  }

  /** Show the frame so many before (−) or after. @param {number} frames */
  step(frames) {
    this.#goTo(this.#index + frames);
  }

  /** Show what came so many ms before (−) or after. @param {number} ms */
  skip(ms) {
    if (this.#shown) this.#goTo(this.#indexAt(this.#shown.at + ms));
  }

  /** Show what came so many ms after the oldest frame. @param {number} position */
  seek(position) {
    if (this.#frames.length) this.#goTo(this.#indexAt(this.#frames[0].at + position));
  }

  /** Place of the frame that is shown, or of the oldest when that is forgotten. */
  get #index() {
    return this.#shown ? this.#indexAt(this.#shown.at) : 0;
  }

  /** Place of the last frame that came by then. @param {number} at */
  #indexAt(at) {
    return Math.max(0, firstWhere(this.#frames, (frame) => frame.at > at) - 1);
  }

  #goTo(index) {
    if (!this.#frames.length) return;
    this.mode = "paused";
    this.#draw(this.#frames[Math.max(0, Math.min(this.#frames.length - 1, index))]);
  }

  /** @param {Frame} frame */
  #draw(frame) {
    this.#shown = frame;
    this.show(frame);
  }

  /** Frames more than a minute before the displayed one are dropped, so that a minute before the displayed frame is always available. */
  #forget() {
    const from = (this.mode === "live" || !this.#shown ? /** @type {Frame} */ (this.newest)?.at : this.#shown.at) - this.span;
    let gone = 0;
    while (gone < this.#frames.length - 1 && (this.#frames[gone].at < from || this.#frames.length - gone > this.most || this.#bytes > this.mostBytes)) {
      this.#bytes -= this.#frames[gone].buffer.byteLength;
      gone += 1;
    }
    if (gone) this.#frames.splice(0, gone);
  }
}
