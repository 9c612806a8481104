// The header of a frame, as ScreenFrame of the contracts packs it.

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
