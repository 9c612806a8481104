// Pairs that wait to be shown, with their films already here, so that the next one appears at once.

/**
 * @typedef {{segment_id: string, episode_id: string, decision_steps: number}} Clip
 * @typedef {{pair_id: string, a: Clip, b: Clip}} Pair
 */

/** @template Films */
export class Queue {
  /** @type {{pair: Pair, films: Promise<Films>}[]} */
  #ready = [];
  /** @type {Set<string>} shown in this view; the HUD may name them again */
  #taken = new Set();
  /** @type {Promise<void> | null} */
  #asking = null;
  /** How many labels pairs are made of; null before the first answer. @type {number | null} */
  labels = null;

  /**
   * @param {(limit: number) => Promise<{items: Pair[], labels: number}>} ask
   * @param {(pair: Pair) => Promise<Films>} load
   * @param {{ahead?: number, asked?: number}} [how]  pairs whose films are loaded ahead; pairs that are asked for at a time
   */
  constructor(ask, load, { ahead = 1, asked = 4 } = {}) {
    this.ask = ask;
    this.load = load;
    this.ahead = ahead;
    this.asked = asked;
  }

  /** The next pair, or null when there is none now. @returns {Promise<{pair: Pair, films: Promise<Films>} | null>} */
  async take() {
    if (this.#ready.length === 0) await this.#fill();
    const next = this.#ready.shift() ?? null;
    if (next) this.#taken.add(next.pair.pair_id);
    return next;
  }

  /** Have the films of the next pair loaded; what fails is tried again when the pair is taken. */
  async prepare() {
    if (this.#ready.length < this.ahead) await this.#fill().catch(() => undefined);
  }

  /** A pair that came from elsewhere, such as the address. @param {Pair} pair */
  shown(pair) {
    this.#taken.add(pair.pair_id);
    this.#ready = this.#ready.filter((each) => each.pair.pair_id !== pair.pair_id);
  }

  /** Forget what is ready: another person asks. */
  clear() {
    this.#ready = [];
  }

  #fill() {
    this.#asking ??= this.#askFor().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askFor() {
    const { items, labels } = await this.ask(this.asked);
    this.labels = labels;
    for (const pair of items) {
      if (this.#ready.length >= this.ahead + 1) break;
      if (this.#taken.has(pair.pair_id) || this.#ready.some((each) => each.pair.pair_id === pair.pair_id)) continue;
      if (pair.a.segment_id === pair.b.segment_id) continue; // two clips that are one say nothing
      const films = this.load(pair);
      films.catch(() => undefined); // who shows the pair sees what was wrong
      this.#ready.push({ pair, films });
    }
  }
}
