// Display statistics: frames per second, age of the frames when drawn, and dropped frames.

const WINDOW = 5000; // ms
const OLDEST = 60_000; // ms; frames this old are discarded

export class FrameStats {
  /** @type {{seq: number, age: number | null, at: number}[]} oldest first */
  #drawn = [];

  /** A frame was drawn. @param {{seq: number, age: number | null, at: number}} frame  `age` in ms since capture; null if the clock offset is unknown */
  drawn(frame) {
    const last = this.#drawn.at(-1);
    if (last && frame.seq <= last.seq) this.clear(); // another life of the HUD counts from one again
    this.#drawn.push(frame);
    this.#forget(frame.at);
  }

  /** What comes next does not follow what was: a pause lies between. */
  clear() {
    this.#drawn = [];
  }

  /** Figures of the last five seconds; null is not known. @param {number} now */
  view(now) {
    this.#forget(now);
    const drawn = this.#drawn;
    if (drawn.length < 2) return { fps: null, age: null, slowest: null, lost: null, of: null };
    const first = drawn[0];
    const last = drawn[drawn.length - 1];
    const ages = drawn.flatMap(({ age }) => (age === null ? [] : [age])).sort((a, b) => a - b);
    const of = last.seq - first.seq;
    return {
      fps: ((drawn.length - 1) * 1000) / Math.max(1, last.at - first.at),
      age: quantile(ages, 0.5),
      slowest: quantile(ages, 0.95),
      lost: of - (drawn.length - 1),
      of,
    };
  }

  /** @param {number} now */
  #forget(now) {
    const from = this.#drawn.findIndex(({ at }) => at >= now - WINDOW);
    this.#drawn = from < 0 ? [] : this.#drawn.slice(from);
  }
}

/**
 * The age of a frame, or null when it shows that the clocks of trainer and HUD differ. The HUD's clock is known to half
 * of a way there and back, so an age may come out that much below zero.
 *
 * @param {number} age ms
 * @param {number | null} trip ms
 */
export function believable(age, trip) {
  const doubt = trip === null ? 0 : trip / 2 + 1;
  return age >= -doubt && age < OLDEST ? Math.max(0, age) : null;
}

/** @param {number[]} sorted @param {number} share @returns {number | null} */
export function quantile(sorted, share) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : null;
}
