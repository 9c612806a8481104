// Draws the game: the newest frame, whose header ScreenFrame of the contracts defines.

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
      const picture = await createImageBitmap(new Blob([new Uint8Array(buffer, HEADER)], { type: header.mediaType }), AS_STORED);
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

const CODEC = 2; // offset of how the picture is stored
const SEQUENCE = 8;
const CAPTURED = 12;
const STEP = 20;
const MEDIA_TYPES = new Map([[1, "image/jpeg"], [2, "image/webp"]]);

/** @param {ArrayBuffer} buffer @returns {{seq: number, step: number, captured: number, mediaType: string}} `captured` in ms since 1970, by the trainer's clock */
export function readHeader(buffer) {
  const view = new DataView(buffer, 0, HEADER);
  return {
    seq: view.getUint32(SEQUENCE, true),
    step: view.getUint32(STEP, true),
    captured: Number(view.getBigUint64(CAPTURED, true)) / 1000,
    mediaType: MEDIA_TYPES.get(view.getUint8(CODEC)) ?? "",
  };
}
