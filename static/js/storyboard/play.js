// Plays the clips of all scenes one after the other in the panel ([data-play-all]), from the picked one to the end. A pause,
// a second press or another choice ends it.
(() => {
  let current = null; // the tile whose clip plays

  const films = () => [...document.querySelectorAll("[data-board] .scene")].filter((scene) => !scene.querySelector(".frame--blank"));
  const button = () => document.querySelector("[data-play-all]");

  function showButton() {
    if (button()) button().hidden = !films().length;
    button()?.setAttribute("aria-pressed", Boolean(current));
  }

  function start(scene) {
    current = scene?.id ?? null;
    showButton();
    if (!current) return;
    if (scene.hasAttribute("aria-current")) document.querySelector("#scene-take [data-play]")?.click();
    else scene.click();
  }

  document.addEventListener("click", ({ target }) => {
    if (!target.closest?.("[data-play-all]")) return;
    const from = films().findIndex((scene) => scene.hasAttribute("aria-current"));
    start(current ? null : films()[Math.max(0, from)]);
  });
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    const picked = document.querySelector("[data-board] .scene[aria-current]")?.id;
    if (target.id === "panel" && current) {
      if (picked === current) document.querySelector("#scene-take [data-play]")?.click();
      else current = null;
    }
    showButton();
  });
  document.addEventListener("ended", ({ target }) => {
    if (!current || !target.closest?.("#scene-take")) return;
    start(films()[films().findIndex((scene) => scene.id === current) + 1]);
  }, true);
  document.addEventListener("pause", ({ target }) => {
    if (target.closest?.("#scene-take") && !target.ended) start(null);
  }, true);
  document.addEventListener("DOMContentLoaded", showButton);
})();
