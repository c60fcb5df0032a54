// A card whose state changed makes the library list refresh.
(() => {
  const SPREAD = 1500; // ms: not all pages of a team ask in the same moment
  let waiting = null;

  function refresh() {
    waiting = null;
    // An answer that is under way may be older, and takes the place of the list.
    document.querySelector("#library.htmx-request") ? wait() : htmx.trigger("#library", "refresh");
  }

  function wait() {
    if (document.getElementById("library")) waiting ??= setTimeout(refresh, Math.random() * SPREAD);
  }

  document.addEventListener("live:moved", wait);
})();
