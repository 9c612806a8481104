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
    return `${watch.env} is not responding. Switching to ${watch.next} in ${left} s`;
  }
  if (watch?.silent_since) return `${watch.env} has not responded for ${age(secondsSince(watch.silent_since))}; no other environment responds`;
  if (watch?.still_seconds) return `${watch.env} has not moved for ${age(seconds)}: its runner is waiting for the learner`;
  return `No frame for ${age(seconds)}`;
}
