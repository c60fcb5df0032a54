// Our control bar in place of the browser's: play, sound, full screen and the usual keys. The seek bar is seek_bar.js.
// Without this script the browser's controls stay.
(() => {
  const KEYS = { " ": play, k: play, m: mute, f: fill };

  function play(figure, film) {
    if (film.paused) film.play().catch(() => {});
    else film.pause();
  }

  function mute(figure, film) {
    film.muted = !film.muted;
  }

  function fill(figure) {
    if (document.fullscreenElement) document.exitFullscreen();
    else figure.requestFullscreen?.().catch(() => {});
  }

  function mark(button, on, label) {
    button.querySelector("[data-on]").hidden = !on;
    button.querySelector("[data-off]").hidden = on;
    button.setAttribute("aria-label", label);
  }

  function bind(figure) {
    const [film, find] = [figure.querySelector("video"), (name) => figure.querySelector(`[data-${name}]`)];
    const draw = () => {
      mark(find("play"), !film.paused, film.paused ? "Play" : "Pause");
      mark(find("sound"), !film.muted, film.muted ? "Unmute" : "Mute");
    };
    film.controls = false;
    find("bar").hidden = false;
    for (const [name, act] of [["play", play], ["sound", mute], ["full", fill]]) find(name).addEventListener("click", () => act(figure, film));
    for (const name of ["play", "pause", "ended", "volumechange"]) film.addEventListener(name, draw);
    film.addEventListener("click", () => play(figure, film));
    film.addEventListener("error", () => (find("away").hidden = false));
    film.addEventListener("playing", () => (find("away").hidden = true));
    figure.addEventListener("keydown", (event) => {
      const act = event.target.closest("button") && event.key === " " ? null : KEYS[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act(figure, film);
    });
    draw();
  }

  document.addEventListener("htmx:load", ({ target }) => [target, ...target.querySelectorAll("[data-player]")].filter((one) => one.matches("[data-player]")).forEach(bind));
})();
