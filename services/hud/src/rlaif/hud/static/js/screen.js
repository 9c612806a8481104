// Draws the game: only the newest frame, and each drawn frame is acknowledged.

const HEADER = 24; // bytes; see ScreenFrame in the contracts
const SEQUENCE = 8; // offset of the frame's number
const STEP = 20;

export class Screen {
  #context;
  #newest = null;
  #decoding = false;

  /** drawn({seq, step}) is called after each frame. */
  constructor(canvas, drawn) {
    this.canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
    this.#context.imageSmoothingEnabled = false;
    this.drawn = drawn;
  }

  /** A frame came in; it replaces one that still waits. */
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
    const header = new DataView(buffer, 0, HEADER);
    try {
      const picture = await createImageBitmap(new Blob([new Uint8Array(buffer, HEADER)], { type: "image/jpeg" }));
      await new Promise((done) => requestAnimationFrame(done));
      this.#context.drawImage(picture, 0, 0, this.canvas.width, this.canvas.height);
      picture.close();
    } catch (error) {
      console.warn("a frame could not be drawn", error);
    }
    this.drawn({ seq: header.getUint32(SEQUENCE, true), step: header.getUint32(STEP, true) });
  }
}
