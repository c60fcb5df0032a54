// Draws the waveform of each [data-sample] that the browser can decode, and says how long and how loud it is.
(() => {
  const BARS = 64;
  const known = new Map(); // by address: what was decoded

  async function decode(url) {
    const bytes = await (await fetch(url)).arrayBuffer();
    const sound = await new OfflineAudioContext(1, 1, 44100).decodeAudioData(bytes);
    const samples = sound.getChannelData(0);
    const size = Math.max(1, Math.floor(samples.length / BARS));
    const peak = (_, bar) => samples.subarray(bar * size, (bar + 1) * size).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const peaks = Array.from({ length: BARS }, peak);
    return { peaks, seconds: Math.round(sound.duration), decibels: 20 * Math.log10(Math.max(...peaks, 0.001)) };
  }

  function bar(peak, place) {
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const high = Math.max(2, peak * 36);
    const values = { x: place * 8, y: 18 - high / 2, width: 4, height: high, rx: 1.5 };
    Object.entries(values).forEach(([name, value]) => rect.setAttribute(name, value));
    return rect;
  }

  function judge(decibels) {
    const peak = `peak ${Math.round(decibels)} dB`.replace("-", "−");
    if (decibels < -18) return ["late", `Quiet: ${peak}. A louder take gives a clearer voice.`];
    return decibels > -0.5 ? ["late", `Too loud: ${peak}. It may be distorted.`] : ["", `Good level, ${peak}`];
  }

  function show(sample, { peaks, seconds, decibels }) {
    sample.querySelector(".wave").replaceChildren(...peaks.map(bar));
    const [length, note] = [sample.querySelector("[data-length]"), sample.querySelector("[data-level]")];
    length.textContent ||= `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (!note) return;
    const [state, text] = judge(decibels);
    if (state) sample.dataset.state = state;
    [note.hidden, note.querySelector("[data-judged]").textContent] = [false, text];
  }

  const draw = () => document.querySelectorAll('[data-sample]:not([data-sample=""])').forEach(async (sample) => {
    const url = sample.dataset.sample;
    if (!known.has(url)) known.set(url, decode(url).catch(() => null));
    const sound = await known.get(url);
    if (sound && !sample.querySelector(".wave rect")) show(sample, sound);
  });

  draw();
  document.addEventListener("htmx:afterSettle", draw);
})();
