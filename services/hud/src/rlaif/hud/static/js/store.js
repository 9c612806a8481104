// What the page knows: the sections of the HUD's snapshot. Panels redraw when their sections change.

export class Store {
  #panels = [];
  #changed = new Set();
  #scheduled = false;

  constructor() {
    this.state = { events: [] };
  }

  /** Call `draw(state)` soon after one of these sections changed. */
  watch(sections, draw) {
    this.#panels.push({ sections, draw });
  }

  /** Put in new values of sections. */
  merge(sections) {
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
    for (const { sections, draw } of this.#panels) {
      if (!sections.some((name) => changed.has(name))) continue;
      try {
        draw(this.state);
      } catch (error) {
        console.error("a panel could not be drawn", sections, error);
      }
    }
  }
}
