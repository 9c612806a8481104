// The two curves, over one axis of steps, so that what happened together stands together.

import { byId } from "../dom.js";
import { count, decimal, reward } from "../format.js";
import { drawChart } from "../chart.js";

export function drawCharts({ series }) {
  const steps = axis([...series.episode_return, ...series.score_mean]);
  drawChart(byId("return-chart"), {
    name: "Mean episode return",
    points: series.episode_return,
    versions: series.versions,
    steps,
    format: reward,
    field: "series.episode_return.-1.1",
    caption: "Mean of the last 100 episodes.",
    none: "The curve starts with the second reading of the mean return.",
  });
  drawChart(byId("score-chart"), {
    name: "Mean judge score",
    points: series.score_mean,
    versions: series.versions,
    steps,
    format: decimal,
    bounds: [0, 1],
    field: "series.score_mean.-1.1",
    caption: `Mean of ${count(series.score_window)} segments.`,
    none: "The curve starts with the second scored segment.",
  });
}

function axis(points) {
  const steps = points.map(([step]) => step);
  return [Math.min(...steps), Math.max(...steps)];
}
