// Two films with one clock: both show the same moment since their beginnings. Without a browser.

import { advanced, pictureAt } from "../segments/playback.js";

/** @typedef {{step: number, frame: number}[]} Pictures */

const REST = 45; // frames that the end is shown before both begin again

/** The one that lasts longer leads; the other rests at its end. @param {Pictures} a @param {Pictures} b */
export const leader = (a, b) => (a[a.length - 1].frame >= b[b.length - 1].frame ? a : b);

/** Which picture of each is shown at a frame. @param {Pictures} a @param {Pictures} b @param {number} frame */
export const shownAt = (a, b, frame) => ({ a: pictureAt(a, frame), b: pictureAt(b, frame) });

/**
 * The clock after some time; after the end and a rest it begins again.
 *
 * @param {Pictures} lead
 * @param {{frame: number, rested: number}} clock
 * @param {number} milliseconds
 * @param {number} speed
 * @returns {{frame: number, rested: number}}
 */
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
