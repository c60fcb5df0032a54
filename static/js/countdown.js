// Counts [data-countdown] down, in seconds; at its end the nearest element that htmx fetches by "countdown" is fetched.
(() => {
  const ends = new WeakMap();

  function tick() {
    document.querySelectorAll("[data-countdown]").forEach((element) => {
      if (!ends.has(element)) ends.set(element, performance.now() + 1000 * Number(element.dataset.countdown));
      const left = Math.ceil((ends.get(element) - performance.now()) / 1000);
      element.textContent = `${Math.max(0, left)} s`;
      if (left > 0) return;
      element.removeAttribute("data-countdown");
      element.closest("[hx-trigger]")?.dispatchEvent(new CustomEvent("countdown"));
    });
  }

  setInterval(tick, 1000);
  document.addEventListener("htmx:load", tick);
})();
