// What a page or a panel started, and ends when it is left.

export class Scope {
  /** @type {(() => void)[]} */
  #ends = [];

  /** Call this at the end. @param {(() => unknown) | void} end */
  add(end) {
    if (end) this.#ends.push(end);
  }

  /** Listen until the end. @param {EventTarget} target @param {string} type @param {(event: any) => void} listener */
  on(target, type, listener) {
    target.addEventListener(type, listener);
    this.add(() => target.removeEventListener(type, listener));
  }

  /** Call again and again until the end. @param {number} milliseconds @param {() => void} run */
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds);
    this.add(() => clearInterval(timer));
  }

  /** End all of it, the newest first. */
  end() {
    for (const end of this.#ends.splice(0).reverse()) end();
  }
}
