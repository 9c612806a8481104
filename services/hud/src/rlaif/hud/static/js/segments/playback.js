// Time in a film, without a browser: which picture is shown when, and how fast.

export const FRAMES_A_SECOND = 59.7275; // of a Game Boy

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

/** The picture that is shown at a moment: the last one that was taken until then. @param {{frame: number}[]} pictures @param {number} frame */
export function pictureAt(pictures, frame) {
  return lastUpTo(pictures, frame, (picture) => picture.frame);
}

/** The picture of a decision step, or of the last one before it that has any. @param {{step: number}[]} pictures @param {number} step */
export function pictureOfStep(pictures, step) {
  return lastUpTo(pictures, step, (picture) => picture.step);
}

/** @template T @param {T[]} pictures @param {number} value @param {(picture: T) => number} of */
function lastUpTo(pictures, value, of) {
  let low = 0;
  let high = pictures.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (of(pictures[middle]) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Playback position after some time. It stops at the end; playing from the end restarts.
 *
 * @param {{frame: number}[]} pictures
 * @param {number} frame  game frame now
 * @param {number} milliseconds  that passed
 * @param {number} speed
 */
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
