// Shows the stream of the recorder while it runs: its level in forty steps, the last seconds as a waveform, and advice.
(() => {
  const [STEPS, BARS, EVERY] = [40, 64, 100]; // ms
  let watching = null;

  function rect(values, on) {
    const drawn = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    Object.entries({ ...values, class: on || "" }).forEach(([name, value]) => drawn.setAttribute(name, value));
    return drawn;
  }

  function step(place, decibels) {
    const reached = -60 + (60 * (place + 1)) / STEPS;
    const kind = reached >= -1 ? "is-over" : reached > -6 ? "is-high" : "is-on";
    return rect({ x: place * 10, y: 0, width: 8, height: 10, rx: 1.5 }, reached <= decibels && kind);
  }

  const advise = (decibels, seconds) => decibels > -0.5 ? "Too loud. Move back a little."
    : seconds < 10 ? "Go on, 30 s are needed for a good voice." : "Speak at the same distance until you stop.";

  function show(box, analyser, peaks) {
    const wave = new Float32Array(analyser.fftSize);
    analyser.getFloatTimeDomainData(wave);
    const peak = Math.min(1, wave.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
    const decibels = Math.max(-60, 20 * Math.log10(peak || 0.001));
    peaks.push(peak);
    const bars = peaks.slice(-BARS).map((high, place) => {
      const size = Math.max(2, high * 36);
      return rect({ x: place * 8, y: 18 - size / 2, width: 4, height: size, rx: 1.5 }, "is-heard");
    });
    box.querySelector(".wave").replaceChildren(...bars);
    box.querySelector(".level").replaceChildren(...Array.from({ length: STEPS }, (_, place) => step(place, decibels)));
    box.querySelector(".level").setAttribute("aria-valuenow", Math.round(decibels));
    box.querySelector("[data-decibels]").textContent = `${Math.round(decibels)} dB`.replace("-", "−");
    box.querySelector("[data-advice]").textContent = advise(decibels, (peaks.length * EVERY) / 1000);
  }

  document.addEventListener("recording:started", ({ detail: stream }) => {
    const [box, context] = [document.getElementById("recorder"), new AudioContext()];
    const analyser = context.createMediaStreamSource(stream).connect(context.createAnalyser());
    box.hidden = false;
    box.querySelector("[data-stop]").focus();
    watching = { context, box, timer: setInterval(show, EVERY, box, analyser, []) };
  });
  document.addEventListener("recording:stopped", () => {
    clearInterval(watching.timer);
    watching.context.close();
    watching.box.hidden = true;
  });
})();
