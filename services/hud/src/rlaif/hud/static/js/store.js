// State of the page: the sections of the HUD's snapshot. Panels are redrawn when their sections change.

export class Store {
  #panels = [];
  #changed = new Set();
  #scheduled = false;

  constructor() {
    /** @type {any} */
    this.state = { events: [] };
    /** @type {string | null} when the state was true, if it is the last visit's */
    this.past = null;
  }

  /** Call `draw(state)` now if something is known, and soon after one of these sections changed; gives the function that ends it. */
  watch(sections, draw) {
    const panel = { sections, draw };
    this.#panels.push(panel);
    if (this.known) draw(this.state);
    return () => {
      this.#panels = this.#panels.filter((each) => each !== panel);
    };
  }

  /** Whether any state is known, from the HUD or from the last visit. */
  get known() {
    return this.state.taken_at !== undefined;
  }

  /** Show the state of the last visit until the HUD sends the current one; `at` is its time. @param {Record<string, any>} sections @param {string} at */
  recall(sections, at) {
    this.merge(sections);
    this.past = at;
  }

  /** Put in new values of sections. */
  merge(sections) {
    if (sections.taken_at) this.past = null;
    Object.assign(this.state, sections);
    for (const name of Object.keys(sections)) this.#changed.add(name);
    if (!this.#scheduled) {
      this.#scheduled = true;
      // A hidden page draws nothing; a timer, unlike an animation frame, still lets it catch up.
      setTimeout(() => this.#draw(), 16);
    }
  }

  /** Add one line of the event log; a line that is there already is left out. */
  addEvent(entry) {
    const events = this.state.events;
    if (events.length && entry.id <= events[events.length - 1].id) return;
    this.merge({ events: [...events.slice(-299), entry] });
  }

  #draw() {
    this.#scheduled = false;
    const changed = this.#changed;
    this.#changed = new Set();
    for (const { sections, draw } of [...this.#panels]) {
      if (!sections.some((name) => changed.has(name))) continue;
      try {
        draw(this.state);
      } catch (error) {
        console.error("a panel failed to render", sections, error);
      }
    }
  }
}
