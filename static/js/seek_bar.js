// The seek bar of the player: what is loaded and played, a knob to drag, arrow keys for five seconds.
(() => {
  const STEPS = { ArrowLeft: -5, ArrowRight: 5, PageDown: -15, PageUp: 15, Home: -Infinity, End: Infinity };

  function words(seconds) {
    const whole = Math.floor(seconds || 0);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  }

  function bind(figure) {
    const [film, line] = [figure.querySelector("video"), figure.querySelector("[data-seek]")];
    const find = (name) => figure.querySelector(`[data-${name}]`);
    const length = () => (Number.isFinite(film.duration) ? film.duration : 0);
    const percent = (seconds) => `${length() ? (100 * seconds) / length() : 0}%`;
    const go = (seconds) => (film.currentTime = Math.min(Math.max(0, seconds), length()));

    function draw() {
      const loaded = film.buffered.length ? film.buffered.end(film.buffered.length - 1) : 0;
      find("loaded").setAttribute("width", percent(loaded));
      find("played").setAttribute("width", percent(film.currentTime));
      find("knob").setAttribute("cx", percent(film.currentTime));
      find("now").textContent = words(film.currentTime);
      if (length()) find("length").textContent = words(Math.round(length()));
      line.setAttribute("aria-valuemax", Math.round(length()));
      line.setAttribute("aria-valuenow", Math.round(film.currentTime));
      line.setAttribute("aria-valuetext", `${words(film.currentTime)} of ${words(length())}`);
    }

    function drag(event) {
      const box = line.getBoundingClientRect();
      if (event.buttons & 1) go(((event.clientX - box.left) / box.width) * length());
    }

    line.addEventListener("pointerdown", (event) => (line.setPointerCapture(event.pointerId), drag(event)));
    line.addEventListener("pointermove", drag);
    figure.addEventListener("keydown", (event) => {
      if (!(event.key in STEPS)) return;
      event.preventDefault();
      go(film.currentTime + STEPS[event.key]);
    });
    for (const name of ["timeupdate", "seeking", "loadedmetadata", "progress", "durationchange"]) film.addEventListener(name, draw);
    draw();
  }

  document.addEventListener("htmx:load", ({ target }) => [target, ...target.querySelectorAll("[data-player]")].filter((one) => one.matches("[data-player]")).forEach(bind));
})();
