// Loads the poster of a card, a frame of its film, once the card comes near the viewport.
(() => {
  const near = new IntersectionObserver(show, { rootMargin: "400px" });

  function show(entries) {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      target.addEventListener("loadedmetadata", () => measure(target), { once: true });
      target.preload = "metadata";
      target.src = target.dataset.still;
    }
  }

  function measure(film) {
    const end = film.parentElement.querySelector("[data-still-length]");
    if (!end || !Number.isFinite(film.duration)) return;
    const whole = Math.round(film.duration);
    end.textContent = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
    end.hidden = false;
  }

  function attend(root) {
    root.querySelectorAll?.("video[data-still]:not([src])").forEach((film) => near.observe(film));
  }

  document.addEventListener("DOMContentLoaded", () => attend(document));
  document.addEventListener("htmx:load", (event) => attend(event.target));
})();
