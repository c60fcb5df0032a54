// Records a sample: [data-record] starts, [data-stop] stops, after three minutes at most. What was recorded goes on as a
// "recording:made" event with its blob (wav_file.js); recorder_level.js shows the stream while it runs.
(() => {
  const LONGEST = 180; // seconds
  const REFUSED = "The browser gives no microphone. Allow it for this page, or choose files.";
  let recorder = null;
  let clock = null;

  const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));

  function offer() {
    const button = document.querySelector("[data-record]");
    if (button) button.hidden = !window.MediaRecorder;
  }

  function tick(since) {
    const seconds = Math.floor((Date.now() - since) / 1000);
    const shown = document.querySelector("#recorder [data-clock]");
    if (shown) shown.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (seconds >= LONGEST) recorder.stop();
  }

  async function start() {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true }).catch(() => null);
    if (!stream) return tell("sample:problem", REFUSED);
    const [parts, since] = [[], Date.now()];
    recorder = new MediaRecorder(stream);
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    recorder.addEventListener("stop", () => {
      clearInterval(clock);
      stream.getTracks().forEach((track) => track.stop());
      recorder = null;
      tell("recording:stopped");
      tell("recording:made", new Blob(parts));
    });
    recorder.start();
    clock = setInterval(tick, 200, since);
    return tell("recording:started", stream);
  }

  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-record]") && !recorder) start();
    if (target.closest("[data-stop]")) recorder?.stop();
  });
  // A list of samples that arrived now would take the place of the recorder.
  document.addEventListener("htmx:beforeRequest", (event) => recorder && event.target.closest("#samples") && event.preventDefault());
  document.addEventListener("htmx:afterSettle", offer);
  offer();
})();
