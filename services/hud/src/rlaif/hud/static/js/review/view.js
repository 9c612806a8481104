// The elements of the review page: two clips, the answers, and the place where the judges' words come to light.

import { h, setText, show } from "../dom.js";

/**
 * @typedef {import("./words.js").Choice} Choice
 * @typedef {"loading" | "asking" | "sending" | "revealed" | "none"} Phase
 * @typedef {object} Actions
 * @property {(choice: Choice) => void} vote
 * @property {() => void} next
 * @property {() => void} undo
 * @property {() => void} play
 * @property {(frame: number) => void} seek
 * @property {(by: number) => void} nudge
 * @property {(by: number) => void} faster
 * @property {(name: string) => void} named
 */

const SCREEN = { width: 160, height: 144 };

/** @type {[Choice, string, string][]} */
const ANSWERS = [["a", "A is better", "A"], ["b", "B is better", "B"], ["equal", "Equal", "E"], ["skip", "Skip", "S"]];

/** @param {HTMLElement} root @param {Actions} actions */
export function makeView(root, actions) {
  const clips = { a: makeClip("A"), b: makeClip("B") };
  const transport = makeTransport(actions);
  const answers = ANSWERS.map(([choice, words, key]) => h("button", { type: "button", "data-choice": choice, disabled: true, "aria-keyshortcuts": key, onclick: () => actions.vote(choice) }, words, " ", h("kbd", {}, key)));
  const after = [
    h("button", { type: "button", class: "next-pair", "aria-keyshortcuts": "Enter", onclick: actions.next }, "Next pair ", h("kbd", {}, "Enter")),
    h("button", { type: "button", class: "quiet", "aria-keyshortcuts": "U", onclick: actions.undo }, "Undo ", h("kbd", {}, "U")),
  ];
  const who = makeName(actions);
  const note = h("p", { class: "notice-line", role: "status" });
  const heading = h("h2", { id: "review-title", tabindex: -1 }, "Which clip makes more progress in the game?");
  const revealed = h("div", { class: "reveal", id: "reveal" });
  const agreement = h("div", { id: "agreement" });
  const log = h("div", { id: "votes" });
  const hidden = h("p", { class: "empty" }, "The opinions of the judges, the game's counters and the reward model are shown after you answer.");
  show(root,
    h("section", { class: "panel review", "aria-labelledby": "review-title", "data-phase": "loading" },
      heading,
      h("div", { class: "clips" }, clips.a.element, clips.b.element),
      transport.element,
      h("div", { class: "answers", role: "group", "aria-label": "Your answer" }, ...answers, ...after),
      who.element, note, revealed),
    h("section", { class: "panel review-agreement", "aria-labelledby": "agreement-title" }, h("h2", { id: "agreement-title" }, "Agreement between judges and people"), agreement),
    h("section", { class: "panel review-log", "aria-labelledby": "votes-title" }, h("h2", { id: "votes-title" }, "Latest votes"), log));
  for (const button of after) button.hidden = true;
  const section = /** @type {HTMLElement} */ (root.querySelector(".review"));
  show(revealed, hidden);

  return {
    canvases: { a: clips.a.canvas, b: clips.b.canvas },
    name: who.field, reveal: revealed, agreement, log,

    /** @param {import("./player.js").Pair} pair */
    pair(pair) {
      for (const side of /** @type {const} */ (["a", "b"])) clips[side].element.dataset.segment = pair[side].segment_id;
      show(revealed, hidden);
      setText(note, "");
    },

    /** @param {Phase} phase */
    phase(phase) {
      section.dataset.phase = phase;
      for (const button of answers) button.disabled = phase !== "asking" && !(phase === "loading" && button.dataset.choice === "skip");
      // The button that had the focus goes; the next answer must not get it, or a second Enter would vote.
      if (phase !== "revealed" && after.some((button) => button === document.activeElement)) heading.focus({ preventScroll: true });
      for (const button of after) button.hidden = phase !== "revealed";
      if (phase !== "revealed") show(revealed, hidden);
      else after[0].focus({ preventScroll: true });
    },

    /** A sentence under the answers. @param {string} text @param {string} [tone] @param {{again?: () => void}} [how] */
    say(text, tone = "plain", { again } = {}) {
      note.dataset.tone = tone;
      show(note, text, again ? h("button", { type: "button", onclick: again }, "Try again") : null);
    },

    /** Ask for the name that a vote needs, and then cast it. @param {Choice} choice */
    askName(choice) {
      this.say("Enter a reviewer name. It is stored with each vote.", "warn");
      who.ask(choice);
    },

    /** @param {import("./player.js").PairPlayer} player */
    moved(player) {
      transport.moved(player);
      const steps = player.steps;
      for (const side of /** @type {const} */ (["a", "b"])) setText(clips[side].at, steps ? `emulator step ${steps[side][0]} of ${steps[side][1]}` : "");
    },
  };
}

/** @param {"A" | "B"} letter */
function makeClip(letter) {
  const canvas = h("canvas", { width: SCREEN.width, height: SCREEN.height, role: "img", "aria-label": `Clip ${letter}` });
  const at = h("span", { class: "quiet-text" });
  const element = h("figure", { class: "clip", "data-side": letter.toLowerCase() }, h("figcaption", {}, h("b", {}, letter), at), canvas);
  return { element, canvas, at };
}

/** @param {Actions} actions */
function makeTransport(actions) {
  const words = h("span", {}, "Play");
  const play = h("button", { type: "button", class: "play", disabled: true, "aria-keyshortcuts": "Space", onclick: actions.play }, words, " ", h("kbd", {}, "Space"));
  const scrub = h("input", { type: "range", min: 0, max: 1, step: 1, value: 0, disabled: true, "aria-label": "Position in both clips", oninput: () => actions.seek(Number(scrub.value)) });
  // A slider that was let go must not swallow the keys of the answers.
  scrub.addEventListener("pointerup", () => scrub.blur());
  const speed = h("span", { class: "speed" }, "1×");
  const element = h("div", { class: "transport" }, play, scrub,
    h("button", { type: "button", class: "quiet sign", "aria-label": "Slower", "aria-keyshortcuts": "[", onclick: () => actions.faster(-1) }, "−"), speed,
    h("button", { type: "button", class: "quiet sign", "aria-label": "Faster", "aria-keyshortcuts": "]", onclick: () => actions.faster(1) }, "+"));
  return {
    element,
    /** @param {import("./player.js").PairPlayer} player */
    moved(player) {
      setText(words, player.playing ? "Pause" : "Play");
      setText(speed, `${player.speed}×`);
      if (play.disabled === player.ready) play.disabled = scrub.disabled = !player.ready;
      if (!player.ready) return;
      const lead = player.lead;
      scrub.min = String(lead[0].frame);
      scrub.max = String(lead[lead.length - 1].frame);
      if (document.activeElement !== scrub) scrub.value = String(Math.round(player.frame));
      const steps = player.steps;
      // Not announced during playback.
      if (steps && !player.playing) scrub.setAttribute("aria-valuetext", `emulator step ${Math.max(steps.a[0], steps.b[0])}`);
    },
  };
}

/** @param {Actions} actions */
function makeName(actions) {
  /** @type {Choice | null} */
  let waiting = null;
  const field = h("input", { type: "text", id: "reviewer", maxlength: 64, autocomplete: "nickname", spellcheck: "false" });
  const done = () => {
    actions.named(field.value.trim());
    const choice = waiting;
    waiting = null;
    field.blur();
    if (choice && field.value.trim()) actions.vote(choice);
  };
  field.addEventListener("change", () => actions.named(field.value.trim()));
  const element = h("form", { class: "who", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); done(); } },
    h("label", { for: "reviewer" }, "Reviewer "), field, h("span", { class: "sub" }, "Stored in this browser and with each vote."));
  return {
    element, field,
    /** @param {Choice} choice */
    ask(choice) {
      waiting = choice;
      field.focus();
    },
  };
}
