// @ts-check
/** Run by notebooks that run scripts: without an answer of the kernel only the card stays. @param {string} id @param {string} address @param {number} height */
async function show(id, address, height) {
  const card = document.getElementById(id);
  const frame = document.createElement("iframe");
  Object.assign(frame, { src: address, title: "lookalike", height });
  frame.style.cssText = "width:100%;border:1px solid #8884;border-radius:6px";
  try {
    await fetch(new URL("/healthz", address), { mode: "no-cors" });
    card?.replaceChildren(frame);
    // marimo gives an output a frame, and its height before the page is in it.
    const own = window.frameElement;
    if (own instanceof HTMLElement && own.matches("[onload*=resizeIframe]")) own.style.height = `calc(${height}px + 2em)`;
  } catch { /* the browser does not reach the kernel */ }
}
