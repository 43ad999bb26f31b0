// @ts-check
/**
 * What the page opens on, asked for in one call before any other module is there. It imports
 * nothing, so that the call is on its way while the code that draws the answer is still coming.
 */
const TOKEN = "lookalike-token";
const PLAIN = /[?&](query|steps|space|k)=/; // with one of them, the first question is another one
const [, collection = ""] = /^#\/([^?]+)/.exec(location.hash) ?? [];
const token = sessionStorage.getItem(TOKEN);
const path = `/api/opening?answered=${!PLAIN.test(location.hash)}${collection ? `&collection=${collection}` : ""}`;

/** The answers; null where they could not be had: then each is asked for, and says why. */
export const opening = fetch(path, { headers: token ? { Authorization: `Bearer ${token}` } : {}, cache: "no-store" }).then(
  (response) => (response.ok ? response.json() : null),
  () => null,
);
