// One segment: its film, what it was worth and to whom, what was paid under the frames.

import { mountSegment } from "../panels/segments/segment.js";
import { short } from "../segments/names.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: ({ segment_id: id }) => `Segment ${short(id)}`,
  mount: (root, app, params) => mountSegment(root, app, params),
};
