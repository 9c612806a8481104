// Champion changes: confirmation and reason first, then an authorised request.

import { ApiProblem } from "../../api.js";
import { GivenUp, authorised } from "../../authorised.js";
import { h, show } from "../../dom.js";
import { MODELS } from "./figures.js";

/** @typedef {import("../../app.js").App} App */

/**
 * Ask for a reason, do it, and say how it ended; nothing happens when the person cancels.
 *
 * @param {App} app
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.text  what will follow
 * @param {string} what.verb  on the button
 * @param {string} what.purpose  for the question for the token
 * @param {boolean} [what.reason]  whether one is asked for
 * @param {boolean} [what.pin]  whether to pin can be chosen
 * @param {(given: {reason: string, pin: boolean}) => Promise<unknown>} what.run
 * @param {string} what.done  report to screen readers afterwards
 */
export function confirmChange(app, { title, text, verb, purpose, reason = false, pin = false, run, done }) {
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
      if (!(error instanceof GivenUp)) show(wrong, problemNotice(error));
    }
  };
  const dialog = h("dialog", { class: "change", "aria-labelledby": "change-title", oncancel: close },
    h("h2", { id: "change-title" }, title),
    h("form", { onsubmit: submit },
      h("p", {}, text),
      reason ? h("p", {}, h("label", { for: "change-reason" }, "Reason, for the record"), why) : null,
      pin ? h("p", {}, h("label", {}, keep, " Pin it: no candidate replaces it until it is unpinned")) : null,
      wrong,
      h("p", { class: "actions" }, h("button", { type: "button", onclick: close }, "Cancel"), go)));
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {unknown} error */
function problemNotice(error) {
  const problem = error instanceof ApiProblem ? error : null;
  return h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, problem?.title ?? "The request failed"), `: ${problem?.detail ?? error}`,
    problem?.trace ? h("span", { class: "sub" }, "Trace ", h("code", {}, problem.trace)) : null);
}

/** Go back, or forth, to a version. @param {App} app @param {number} version @param {number | null} live */
export function activate(app, version, live) {
  confirmChange(app, {
    title: `Make v${version} live`,
    text: `The trainer loads v${version} within a few iterations${live === null ? "" : `, in place of v${live}`}. Both versions are kept, so you can switch back.`,
    verb: `Make v${version} live`,
    purpose: `make v${version} live`,
    reason: true,
    pin: true,
    run: (how) => app.api.post(`${MODELS}/${version}/activate`, how),
    done: `Version ${version} is live`,
  });
}

/** @param {App} app @param {number} version */
export function pinIt(app, version) {
  confirmChange(app, {
    title: `Pin v${version}`,
    text: "Until it is unpinned, no candidate replaces it and newer labels do not withdraw it. A watchdog alarm still rolls back to the previous version.",
    verb: "Pin it",
    purpose: "pin the champion",
    reason: true,
    run: ({ reason }) => app.api.write("PUT", `${MODELS}/champion/pin`, { reason }),
    done: `Version ${version} is pinned`,
  });
}

/** @param {App} app @param {number} version */
export function unpinIt(app, version) {
  confirmChange(app, {
    title: `Unpin v${version}`,
    text: "Candidates that pass the gate can replace it again. A new candidate is trained soon.",
    verb: "Unpin it",
    purpose: "unpin the champion",
    run: () => app.api.write("DELETE", `${MODELS}/champion/pin`),
    done: `Version ${version} is no longer pinned`,
  });
}

/** @param {App} app */
export function trainNow(app) {
  confirmChange(app, {
    title: "Train now",
    text: "Trains a candidate on the current labels, even if few of them are new. The gate applies unchanged.",
    verb: "Train now",
    purpose: "start a training",
    run: () => app.api.post(MODELS),
    done: "Training requested",
  });
}
