// Mouse, finger and keyboard on a chart.

/** @typedef {import("./chart.js").TimeChart} TimeChart */

const DRAG = 6; // pixels from which a movement is no click
const STRIDE = 10; // points that Shift with an arrow moves

/** @param {TimeChart} chart */
export function listen(chart) {
  const { plot, axis } = chart;
  plot.addEventListener("keydown", (event) => press(event, chart));
  plot.addEventListener("pointermove", (event) => chart.point(place(event, plot)));
  plot.addEventListener("pointerdown", (event) => down(event, chart));
  plot.addEventListener("pointerup", (event) => up(event, chart));
  for (const name of ["pointerleave", "pointercancel"]) plot.addEventListener(name, () => (chart.isWalked ? undefined : chart.leave()));
  plot.addEventListener("dblclick", () => axis.show(null));
}

/** @param {PointerEvent} event @param {HTMLElement} plot @returns {[number, number]} */
function place(event, plot) {
  const box = plot.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** @param {PointerEvent} event @param {TimeChart} chart */
function down(event, chart) {
  if (event.button !== 0 || !chart.plan) return;
  const [left, top] = place(event, chart.plot);
  // A finger moves the cursor and scrolls the page; only a mouse marks a part.
  if (event.pointerType !== "mouse") return chart.point([left, top]);
  chart.plot.setPointerCapture(event.pointerId); // a drag may end outside
  chart.drag = { left, step: Math.round(chart.plan.stepAt(left)) };
}

/** @param {PointerEvent} event @param {TimeChart} chart */
function up(event, chart) {
  const { drag, plan } = chart;
  chart.drag = null;
  if (event.button !== 0 || !plan) return;
  const [left, top] = place(event, chart.plot);
  if (!drag || Math.abs(left - drag.left) < DRAG) return chart.open([left, top]);
  const there = Math.round(plan.stepAt(left));
  chart.axis.show([Math.min(drag.step, there), Math.max(drag.step, there)]);
}

/** @param {KeyboardEvent} event @param {TimeChart} chart */
function press(event, chart) {
  if (event.ctrlKey || event.metaKey || event.altKey || !chart.plan) return;
  const { axis } = chart;
  const step = chart.spec.cursor.get();
  const far = event.shiftKey ? STRIDE : 1;
  /** @type {Record<string, () => void>} */
  const acts = {
    ArrowLeft: () => chart.walk(-far),
    ArrowRight: () => chart.walk(far),
    Home: () => chart.walk(-Infinity),
    End: () => chart.walk(Infinity),
    "+": () => axis.zoom(2, step),
    "=": () => axis.zoom(2, step),
    "-": () => axis.zoom(0.5, step),
    0: () => axis.show(null),
    PageUp: () => axis.pan(-0.5),
    PageDown: () => axis.pan(0.5),
    Enter: () => chart.openHere(),
    Escape: () => chart.leave(),
  };
  const act = Object.hasOwn(acts, event.key) ? acts[event.key] : null;
  if (!act) return;
  event.preventDefault();
  event.stopPropagation(); // else the page's own keys would act, too
  act();
}
