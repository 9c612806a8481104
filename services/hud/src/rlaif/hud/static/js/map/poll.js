// Asks the REST interface again and again while a view is open and the page can be seen.

/**
 * @param {import("../scope.js").Scope} scope  until its end
 * @param {number} milliseconds  from the end of one answer to the next question
 * @param {(signal: AbortSignal) => Promise<void>} ask  gets one answer and shows it
 * @param {(error: unknown) => void} failed  no answer came; it is asked again all the same
 */
export function poll(scope, milliseconds, ask, failed) {
  const over = new AbortController();
  let timer = 0;
  let asking = false;
  async function turn() {
    clearTimeout(timer);
    if (asking || document.hidden || over.signal.aborted) return;
    asking = true;
    try {
      await ask(over.signal);
    } catch (error) {
      if (!over.signal.aborted) failed(error);
    } finally {
      asking = false;
    }
    if (!over.signal.aborted) timer = window.setTimeout(turn, milliseconds);
  }
  scope.on(document, "visibilitychange", turn);
  scope.add(() => {
    over.abort();
    clearTimeout(timer);
  });
  turn();
}
