// The dialog before a change that needs the token.

import { authorised, GivenUp, whyNot } from "./api.js";
import { h, show } from "./dom.js";

/**
 * Ask for confirmation, do it, and say how it ended; nothing happens when the person cancels.
 *
 * @param {import("./app.js").App} app
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.text  what will follow
 * @param {string} what.verb  on the button
 * @param {string} what.purpose  for the question for the token
 * @param {HTMLElement[]} [what.fields]  more to fill in
 * @param {boolean} [what.reason]  whether one is asked for
 * @param {boolean} [what.pin]  whether to pin can be chosen
 * @param {(given: {reason: string, pin: boolean}) => Promise<unknown>} what.run
 * @param {string} what.done  report to screen readers afterwards
 */
export function confirmChange(app, { title, text, verb, purpose, fields = [], reason = false, pin = false, run, done }) {
  const why = h("input", { type: "text", id: "change-reason", maxlength: 500, required: true, autocomplete: "off" });
  const keep = h("input", { type: "checkbox", id: "change-pin", checked: true });
  const go = h("button", {}, verb);
  const wrong = h("div", { role: "alert" });
  const close = () => {
    dialog.close();
    dialog.remove();
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    go.disabled = true;
    show(wrong);
    try {
      await authorised(() => run({ reason: why.value.trim(), pin: keep.checked }), purpose);
      close();
      app.announce(done);
    } catch (error) {
      go.disabled = false;
      if (!(error instanceof GivenUp)) show(wrong, whyNot(error));
    }
  };
  const dialog = h("dialog", { class: "change", "aria-labelledby": "change-title", oncancel: close },
    h("h2", { id: "change-title" }, title),
    h("form", { onsubmit: submit },
      h("p", {}, text),
      ...fields,
      reason ? h("p", {}, h("label", { for: "change-reason" }, "Reason, for the record"), why) : null,
      pin ? h("p", {}, h("label", {}, keep, " Pin it: no candidate replaces it until it is unpinned")) : null,
      wrong,
      h("p", { class: "actions" }, h("button", { type: "button", onclick: close }, "Cancel"), go)));
  document.body.append(dialog);
  dialog.showModal();
}
