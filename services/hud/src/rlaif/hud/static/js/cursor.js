// The cursor that charts, frames and tables share: one environment step of the run, or none.

export class Cursor {
  /** @type {number | null} */
  #step = null;
  /** @type {Set<(step: number | null, source: unknown) => void>} */
  #watchers = new Set();

  /** The environment step under the cursor; null when it is nowhere. */
  get() {
    return this.#step;
  }

  /** Move it. `source` is who did, so that it need not answer itself. @param {number | null} step @param {unknown} [source] */
  set(step, source = null) {
    if (step === this.#step) return;
    this.#step = step;
    for (const report of [...this.#watchers]) report(step, source);
  }

  /** Call `report(step, source)` after each move; gives a function that ends it. @param {(step: number | null, source: unknown) => void} report */
  watch(report) {
    this.#watchers.add(report);
    return () => this.#watchers.delete(report);
  }
}
