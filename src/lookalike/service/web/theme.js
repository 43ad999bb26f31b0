// A script of its own, run before anything is drawn, so that a dark page never flashes white.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("lookalike-theme");
  } catch {
    // no storage: follow the system
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
