// @ts-check
/**
 * Run before anything is drawn, and before any module is there: light or dark, so that a dark page
 * never flashes white; and what the page opens on is asked for in one call.
 */
(() => {
  const TOKEN = "lookalike-token";
  const PLAIN = /[?&](query|steps|space|k|wide)=/; // with one of them, the first question is another one
  const root = document.documentElement;
  let theme = null;
  let density = null;
  let token = null;
  try {
    theme = localStorage.getItem("lookalike-theme");
    density = localStorage.getItem("lookalike-density");
    token = sessionStorage.getItem(TOKEN);
  } catch {
    // no storage: follow the system
  }
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (density) root.dataset.density = density;

  // A notebook hands its token over behind "#", which is never sent; it stays in this page only.
  const [handed = "", given] = /[?&]token=([\w-]+)/.exec(location.hash) ?? [];
  if (given) {
    token = window.lookalikeToken = given;
    history.replaceState(null, "", location.hash.replace(handed, ""));
  }

  const [, name = ""] = /^#\/([^?]+)/.exec(location.hash) ?? [];
  const path = `/api/opening?answered=${!PLAIN.test(location.hash)}${name ? `&collection=${name}` : ""}`;
  /** The answers; null where they could not be had: then each is asked for, and says why. */
  window.lookalikeOpening = fetch(path, { headers: token ? { Authorization: `Bearer ${token}` } : {}, cache: "no-store" }).then(
    (response) => (response.ok ? response.json() : null),
    () => null,
  );
})();
