// The header of a frame, as ScreenFrame of the contracts packs it.

export const HEADER = 24; // bytes; the picture follows

const KIND = 1; // offset of what a message is
const GROUP = 2; // a group: the number of its frames, 0, then each behind its length
const COUNT = 2;
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

/** The frames of a message, which is one or a group of them. @param {ArrayBuffer} message @returns {ArrayBuffer[]} */
export function framesOf(message) {
  const view = new DataView(message);
  if (view.getUint8(KIND) !== GROUP) return [message];
  const frames = [];
  let at = 4;
  for (let left = view.getUint8(COUNT); left > 0; left -= 1) {
    const end = at + 4 + view.getUint32(at, true);
    frames.push(message.slice(at + 4, end));
    at = end;
  }
  return frames;
}
