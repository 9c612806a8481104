// Runs before anything is painted: the theme that a person chose, so that the page does not flash in another.

try {
  const chosen = localStorage.getItem("rlaif.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Nothing may be kept here; the system's theme it is.
}
