// Which two versions are to be compared; the address has them, so that it shows the same again.

/** @param {string | null} text  "3,7" @returns {number[]} at most two versions, each once */
export function parse(text) {
  const found = (text ?? "").split(",").map(Number).filter((each) => Number.isInteger(each) && each > 0);
  return [...new Set(found)].slice(0, 2);
}

export class Chosen {
  #versions;
  #said;
  /** @type {Set<() => void>} */
  #watchers = new Set();

  /** @param {string | null} text  of the address @param {(text: string | null) => void} said  called at each change */
  constructor(text, said) {
    this.#versions = parse(text);
    this.#said = said;
  }

  /** Both, the older first, or null. @returns {[number, number] | null} */
  get pair() {
    const [first, second] = [...this.#versions].sort((a, b) => a - b);
    return second === undefined ? null : [first, second];
  }

  /** How many. */
  get size() {
    return this.#versions.length;
  }

  /** @param {number} version */
  has(version) {
    return this.#versions.includes(version);
  }

  /** Choose it, or no more; a third one takes the place of the one that was chosen first. @param {number} version */
  toggle(version) {
    this.#versions = this.has(version) ? this.#versions.filter((each) => each !== version) : [...this.#versions, version].slice(-2);
    this.#tell();
  }

  /** Choose none. */
  clear() {
    this.#versions = [];
    this.#tell();
  }

  /** Call `draw` at each change. @param {() => void} draw */
  watch(draw) {
    this.#watchers.add(draw);
    return () => this.#watchers.delete(draw);
  }

  #tell() {
    this.#said(this.#versions.length ? this.#versions.join(",") : null);
    for (const draw of this.#watchers) draw();
  }
}
