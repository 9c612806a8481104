// Write requests need the bearer token. The user is prompted when the HUD requires it; token.js keeps it for this tab.

import { ApiProblem } from "./api.js";
import { h } from "./dom.js";
import { token } from "./kept.js";

/** Thrown by `authorised` when the prompt is cancelled. */
export class GivenUp extends Error {}

/**
 * Run a write request. If the token is missing or wrong, prompt for it and retry. Returns the result of `work`;
 * throws its errors, or `GivenUp`.
 *
 * @template T
 * @param {() => Promise<T>} work  such as `() => app.api.post(path, body)`; repeated with the token
 * @param {string} purpose  what the token is for: "pin the champion"
 * @param {(purpose: string, wrong: string | null) => Promise<string | null>} [asking]  for tests
 * @returns {Promise<T>}
 */
export async function authorised(work, purpose, asking = askForToken) {
  for (;;) {
    const had = token.get();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
      const typed = await asking(purpose, had ? "Wrong token." : null);
      if (!typed) throw new GivenUp("no token entered");
      token.set(typed);
    }
  }
}

/** @param {string} purpose @param {string | null} wrong @returns {Promise<string | null>} */
function askForToken(purpose, wrong) {
  return new Promise((resolve) => {
    const field = h("input", { type: "password", id: "token-field", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "token-note" });
    const close = (/** @type {string | null} */ value) => {
      resolve(value);
      dialog.close();
      dialog.remove();
    };
    const dialog = h("dialog", { class: "token", "aria-labelledby": "token-title", oncancel: () => close(null) },
      h("h2", { id: "token-title" }, "Bearer token"),
      h("p", {}, `A token is required to ${purpose}.`),
      wrong ? h("p", { class: "notice", "data-tone": "bad", role: "alert" }, wrong) : null,
      h("form", {
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (field.value.trim()) close(field.value.trim());
        },
      },
      h("label", { for: "token-field" }, "Token"), field,
      h("p", { id: "token-note", class: "sub" }, "Value of RLAIF_API_TOKEN; for a demo, api_token in secrets.json in the data folder. Kept until this tab is closed."),
      h("p", { class: "actions" }, h("button", { type: "button", onclick: () => close(null) }, "Cancel"), h("button", {}, "Continue"))));
    document.body.append(dialog);
    dialog.showModal();
  });
}
