// Plays a passage of one of the team's films beside a voice, or a recording: .voice__play[data-src]. One at a time; the
// waveform fills while it plays, and the passage stops by itself, after data-passage seconds if it has another length.
(() => {
  const PASSAGE = 12;
  let player = null;
  let playing = null;

  function show(button, on) {
    button.setAttribute("aria-pressed", String(on));
    button.setAttribute("aria-label", button.getAttribute("aria-label").replace(/^\w+/, on ? "Pause" : "Play"));
    if (!on) fill(button, 0);
  }

  function fill(button, share) {
    const holder = button.closest("[data-sample]") ?? button.parentElement;
    const bars = holder.querySelectorAll(".voice__wave rect, .wave rect");
    bars.forEach((bar, place) => bar.classList.toggle("is-heard", place < share * bars.length));
  }

  function stop() {
    player?.pause();
    if (playing) show(playing, false);
    player = playing = null;
  }

  function start(button) {
    const audio = new Audio(button.dataset.src);
    [player, playing] = [audio, button];
    show(button, true);
    audio.addEventListener("timeupdate", () => {
      if (audio !== player) return;
      const passage = Number(button.dataset.passage) || PASSAGE;
      const length = Math.min(passage, audio.duration || passage);
      fill(button, audio.currentTime / length);
      if (audio.currentTime >= length) stop();
    });
    audio.addEventListener("ended", () => audio === player && stop());
    audio.play().catch(() => audio === player && stop());
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".voice__play[data-src]");
    if (!button) return;
    const again = button === playing;
    stop();
    if (!again) start(button);
  });
})();
