// Reward models: which is live, and all that were published or rejected.

import { hiddenUntil } from "../api.js";
import { h } from "../dom.js";
import { loads } from "../panels/loads.js";
import { Records } from "../panels/models/figures.js";
import { now } from "../panels/models/now.js";
import { rejected, versions } from "../panels/models/versions.js";
import { changes, watch } from "../panels/models/watch.js";
import { mountPanels } from "../parts.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: "Reward models",
  mount(root, app, _params, scope) {
    const all = h("div", { id: "models", class: "models-page" });
    root.append(all);
    const records = new Records(app, scope);
    scope.add(mountPanels(all, app, [now, watch, versions(records), loads(), rejected(records), changes]));
    scope.add(hiddenUntil(root, [records.list, records.rejections]));
  },
};
