// A REST document shared by several panels and polled while the page is visible.

import { Answer } from "./answer.js";

/** @template T */
export class Polled {
  /** @type {((answer: import("./answer.js").Got<T>) => void)[]} */
  #draws = [];
  #answer;
  #path;

  /** @param {import("./app.js").App} app @param {import("./scope.js").Scope} scope @param {string} path @param {number} every ms */
  constructor(app, scope, path, every) {
    this.#path = path;
    this.#answer = /** @type {Answer<T>} */ (new Answer(app, scope, (answer) => {
      // The displayed value is kept while a newer one is loading.
      if (!answer.loading || answer.value === null) for (const draw of this.#draws) draw(answer);
    }));
    scope.every(every, () => {
      if (!document.hidden) this.ask();
    });
  }

  get path() {
    return this.#path;
  }

  /** Call `draw` with each answer. @param {(answer: import("./answer.js").Got<T>) => void} draw */
  show(draw) {
    this.#draws.push(draw);
    draw(this.#answer);
  }

  /** Request now, optionally for another path. @param {string} [path] */
  ask(path = this.#path) {
    this.#path = path;
    void this.#answer.ask(path);
  }
}
