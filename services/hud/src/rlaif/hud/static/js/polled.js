// A document of the REST interface that several panels show and that is asked for again while the page is seen.

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
      // What is shown stays while a newer answer is on its way.
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

  /** Ask now, for another path if one is given. @param {string} [path] */
  ask(path = this.#path) {
    this.#path = path;
    void this.#answer.ask(path);
  }
}
