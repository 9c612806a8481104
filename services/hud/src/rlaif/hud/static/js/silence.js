// Why the screen does not move, and what becomes of that.

import { secondsSince } from "./clock.js";
import { age } from "./format.js";

/**
 * One sentence for the screen's overlay and for the header, `seconds` after the newest frame.
 *
 * @param {{run?: any, watch?: any}} state @param {number} seconds
 */
export function silence({ run, watch }, seconds) {
  if (run && run.status !== "training") return `No frame for ${age(seconds)} · run ${run.status}`;
  if (watch?.takes_over_at && watch.next) {
    const left = Math.max(0, Math.ceil(-secondsSince(watch.takes_over_at)));
    return `${watch.env} is silent. ${watch.next} takes over in ${left} s`;
  }
  if (watch?.silent_since) return `${watch.env} has been silent for ${age(secondsSince(watch.silent_since))}, and nobody else is heard`;
  if (watch?.still_seconds) return `${watch.env} stands still for ${age(seconds)}: its runner waits for the learner`;
  return `No frame for ${age(seconds)}`;
}
