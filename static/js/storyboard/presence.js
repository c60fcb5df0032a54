// Tells in which scene of the storyboard the reader is, while the page has the focus; the others see the name. A page that
// is left, or loses the focus, is forgotten after a while.
(() => {
  const EVERY = 15000; // ms; dashboard/shared/storyboards/presence.py forgets after 40 s
  let told = "";

  const known = () => document.querySelector("#editor-known [name=scene]")?.value ?? "";

  function tell(scene) {
    const source = document.querySelector("[data-presence]");
    if (!source) return;
    const headers = { ...JSON.parse(document.body.getAttribute("hx-headers")), "HX-Request": "true" };
    fetch(source.dataset.presence, { method: "POST", headers, body: new URLSearchParams({ scene }), keepalive: true }).catch(() => {});
    told = scene;
  }

  function beat() {
    if (document.hasFocus() && known()) tell(known());
    // Others who left say nothing: whether they are still here is read again.
    if (document.querySelector("[data-board] .avatar")) document.body.dispatchEvent(new CustomEvent("reelroom:storyboard"));
  }

  setInterval(beat, EVERY);
  document.addEventListener("htmx:afterSettle", () => document.hasFocus() && known() && known() !== told && tell(known()));
  window.addEventListener("focus", beat);
  window.addEventListener("pagehide", () => told && tell(""));
  document.addEventListener("DOMContentLoaded", beat);
})();
