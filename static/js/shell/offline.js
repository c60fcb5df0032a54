// Shows [data-offline] while the stream or the network is gone. Until the stream is back, the body gets a `poll` event
// every 10 s, on which live fragments refresh themselves: hx-get="…" hx-trigger="poll from:body".
(() => {
  const PATIENCE = 3000; // a stream that comes back at once, or a page being left, is no news
  const EVERY = 8000 + 4000 * Math.random();
  let [waiting, polling] = [null, null];

  function show() {
    const banner = document.querySelector("[data-offline]");
    if (!banner) return;
    const away = !navigator.onLine;
    const now = new Date().toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    banner.querySelector("[data-offline-title]").textContent = away ? "You are offline." : "Live updates are interrupted.";
    banner.querySelector("[data-offline-text]").textContent = away
      ? `Shown as of ${now}. Renders continue. Nothing can be sent until the network is back.`
      : "This page reloads its data every 10 s.";
    banner.hidden = false;
    polling ??= setInterval(poll, EVERY);
  }

  const poll = () => navigator.onLine && document.body.dispatchEvent(new CustomEvent("poll"));
  const gone = () => (waiting ??= setTimeout(show, PATIENCE));

  function back() {
    clearTimeout(waiting);
    clearInterval(polling);
    if (polling) poll(); // what was missed meanwhile
    waiting = polling = null;
    document.querySelectorAll("[data-offline]").forEach((banner) => (banner.hidden = true));
  }

  // A form that is sent now would leave the page for one of the browser's own.
  window.addEventListener("submit", (event) => {
    if (navigator.onLine || event.target.method === "dialog") return;
    event.preventDefault();
    event.stopPropagation();
    show();
    const body = event.target.closest("dialog")?.querySelector(".dialog__body"); // it stands before the banner
    body?.querySelector("[data-offline]")?.remove();
    body?.prepend(document.querySelector("[data-offline]").cloneNode(true));
  }, true);

  document.addEventListener("htmx:sseOpen", back);
  document.addEventListener("htmx:sseError", gone);
  window.addEventListener("offline", gone);
  // A stream that broke tells when it is back; one that outlived the gap says nothing.
  window.addEventListener("online", () => document.querySelector("#live:not([data-state=open])") || back());
})();
