// Loads the poster of a card once the card comes near the viewport: the service's picture of the video, beside the
// film's address, or without one a frame of the film; data-frame-only has none, or "last": its last frame.
(() => {
  const NEAR_END = 0.04; // s: a seek to the very end shows nothing
  const ASK_AGAIN = 20_000; // ms, if there is no frame yet: a film may just be made
  const MAX_ATTEMPTS = 4;
  const near = new IntersectionObserver(show, { rootMargin: "400px" });

  function show(entries) {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      if (target.dataset.frameOnly === undefined) showPicture(target);
      else showFrame(target);
    }
  }

  function showPicture(film) {
    const picture = new Image();
    picture.alt = "";
    picture.addEventListener("load", () => film.replaceWith(picture), { once: true });
    picture.addEventListener("error", () => showFrame(film), { once: true });
    picture.src = new URL("../poster/", new URL(film.dataset.still, location.href)).pathname;
  }

  function showFrame(film) {
    let attempts = 0;
    const load = () => film.isConnected && (film.src = film.dataset.still);
    film.addEventListener("loadedmetadata", () => measure(film), { once: true });
    film.addEventListener("error", () => (attempts += 1) < MAX_ATTEMPTS && setTimeout(load, ASK_AGAIN));
    film.preload = "metadata";
    load();
  }

  function measure(film) {
    if (film.dataset.frameOnly === "last") film.currentTime = Math.max(0, film.duration - NEAR_END);
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
