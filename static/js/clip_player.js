// Plays a clip in its card: [data-play] puts the film over its picture, with the browser's controls. A second film stops
// the first. Without this script the card leads to the page of the clip.
(() => {
  const showAll = (root) => root.querySelectorAll?.("[data-play]").forEach((button) => (button.hidden = false));

  function play(button) {
    const film = document.createElement("video");
    film.className = "video__film";
    film.controls = film.playsInline = true;
    film.dataset.plays = "";
    film.addEventListener("ended", () => film.removeAttribute("data-plays"), { once: true });
    film.src = button.dataset.play;
    film.setAttribute("aria-label", button.getAttribute("aria-label").replace(/^Play /, ""));
    button.replaceWith(film);
    film.focus({ preventScroll: true });
    film.play().catch(() => {});
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-play]");
    if (button) play(button);
  });
  document.addEventListener("play", ({ target }) => {
    document.querySelectorAll("video.video__film").forEach((film) => film !== target && film.pause());
  }, true);
  // A list that fetches itself would take the film away; a filter that a person chose may.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const itself = detail.target.id === "library" && detail.requestConfig.elt === detail.target;
    if (itself && document.querySelector("#library [data-plays]")) detail.shouldSwap = false;
  });
  document.addEventListener("DOMContentLoaded", () => showAll(document));
  document.addEventListener("htmx:load", (event) => showAll(event.target));
})();
