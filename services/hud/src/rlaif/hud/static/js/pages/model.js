// One version of the reward model: training data, gate checks, shaping reward by slot, and episodes before and after each load.

import { Answer } from "../answer.js";
import { h, show } from "../dom.js";
import { mountPanels } from "../panel.js";
import { MODELS, alsoNot } from "../panels/models/figures.js";
import { drawCalibration } from "../panels/models/version/calibration.js";
import { gate } from "../panels/models/version/gate.js";
import { head } from "../panels/models/version/head.js";
import { loads } from "../panels/models/version/loads.js";
import { made } from "../panels/models/version/made.js";
import { drawPays } from "../panels/models/version/pays.js";
import { empty } from "../parts.js";
import { Scope } from "../scope.js";

/** @typedef {import("../panel.js").Panel} Panel */

/** @type {import("../router.js").Page} */
export const page = {
  title: ({ version }) => `Reward model v${version}`,
  mount(root, app, { version: text }) {
    const version = Number(text);
    if (!/^[1-9]\d{0,8}$/.test(text)) {
      show(root, h("section", { class: "panel" }, h("h2", {}, "Reward model"), h("p", {}, `There is no version “${text}”: version names are numbers. See `, h("a", { href: "/models" }, "all versions"), ".")));
      return undefined;
    }
    const scope = new Scope();
    const all = h("div", { id: "model", class: "models-page" });
    root.append(h("p", { class: "crumbs" }, h("a", { href: "/models" }, "All reward models")), all);
    scope.add(mountPanels(all, app, [head(version), loads(version), gate(version), ...examined(version), made(version)]));
    scope.add(app.keys.bind(stepping(version, app)));
    return () => scope.end();
  },
};

/** Two panels that one examination fills. @param {number} version @returns {Panel[]} */
function examined(version) {
  const path = `${MODELS}/${version}/examination`;
  /** @type {HTMLElement} */
  let first;
  return [
    { id: "model-calibration", title: "Calibration", sections: [], draw() {}, mount: (body) => void (first = body) },
    {
      id: "model-pays", title: "Shaping reward by observation slot", sections: [], draw() {},
      mount(body, app, scope) {
        const answer = new Answer(app, scope, ({ value, problem }) => {
          const note = (/** @type {HTMLElement} */ each) => (problem ? alsoNot(/** @type {HTMLElement} */ (each.parentElement), problem, () => answer.ask()) : empty("Evaluating on the current labels…"));
          if (!value) return [first, body].forEach((each) => show(each, note(each)));
          drawCalibration(first, value, path);
          drawPays(body, value, path);
        });
        void answer.ask(path);
      },
    },
  ];
}

/** J and K go to the version before and after. @param {number} version @param {import("../app.js").App} app */
function stepping(version, app) {
  let heading = version; // a key pressed before the next page is ready continues from that page
  const to = (/** @type {1 | -1} */ way) => {
    const known = app.store.state.reward_models?.published.map((/** @type {any} */ row) => row.version).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b) ?? [];
    const next = way > 0 ? known.find((/** @type {number} */ each) => each > heading) : known.filter((/** @type {number} */ each) => each < heading).at(-1);
    if (next === undefined) app.announce(way > 0 ? "This is the newest version" : "This is the first version");
    else app.go(`/models/${(heading = next)}`);
  };
  return { j: { label: "the version before", run: () => to(-1) }, k: { label: "the version after", run: () => to(1) } };
}
