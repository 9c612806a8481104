// One segment: video, scores by judge, and reward per step.

import { mountSegment } from "../panels/segments/segment.js";
import { short } from "../segments/names.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: ({ segment_id: id }) => `Segment ${short(id)}`,
  mount: (root, app, params) => mountSegment(root, app, params),
};
