// A segment's film: one answer of the HUD becomes pictures in this page's memory. Format: rlaif.contracts.game.films.

/**
 * @typedef {object} Place  where a picture stands, and when
 * @property {number} step  decision step after which it was taken
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

/**
 * Draw the pictures one after the other and keep each as it looks then. `each(picture, number)` is called for every one, so that the first is
 * seen before the last is there; what it throws ends the work.
 *
 * @param {Film} film
 * @param {(picture: ImageBitmap, number: number) => void} each
 */
export async function decodeFilm({ index, body }, each) {
  const canvas = document.createElement("canvas");
  canvas.width = index.width;
  canvas.height = index.height;
  const screen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  for (const [number, { x, y, offset, length }] of index.pictures.entries()) {
    if (length) {
      const part = await createImageBitmap(new Blob([body.subarray(offset, offset + length)], { type: index.type }));
      screen.drawImage(part, x, y);
      part.close();
    }
    each(await createImageBitmap(canvas), number);
  }
}
