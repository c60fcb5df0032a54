// Turns what was recorded ("recording:made") into a WAV file of 16 bits and one channel, which every service reads and the
// server can measure, and puts it into the form of the samples.
(() => {
  const HEADER_BYTES = 44;
  const UNREADABLE = "The recording cannot be read. Record it again, or choose files.";

  function wav(samples, rate) {
    const view = new DataView(new ArrayBuffer(HEADER_BYTES + 2 * samples.length));
    const text = (at, word) => [...word].forEach((sign, place) => view.setUint8(at + place, sign.charCodeAt(0)));
    text(0, "RIFF");
    view.setUint32(4, view.byteLength - 8, true);
    text(8, "WAVEfmt ");
    view.setUint32(16, 16, true); // bytes of this part
    view.setUint16(20, 1, true); // PCM
    view.setUint16(22, 1, true); // channels
    view.setUint32(24, rate, true);
    view.setUint32(28, 2 * rate, true); // bytes a second
    view.setUint16(32, 2, true); // bytes of a sample
    view.setUint16(34, 16, true); // bits
    text(36, "data");
    view.setUint32(40, 2 * samples.length, true);
    samples.forEach((value, place) => {
      view.setInt16(HEADER_BYTES + 2 * place, Math.max(-1, Math.min(1, value)) * 0x7fff, true);
    });
    return view.buffer;
  }

  document.addEventListener("recording:made", async ({ detail: blob }) => {
    const context = new AudioContext();
    const sound = await blob.arrayBuffer().then((bytes) => context.decodeAudioData(bytes)).catch(() => null);
    context.close();
    if (!sound) {
      document.dispatchEvent(new CustomEvent("sample:problem", { detail: UNREADABLE }));
      return;
    }
    const time = new Date().toTimeString().slice(0, 5);
    const file = new File([wav(sound.getChannelData(0), sound.sampleRate)], `Recording ${time}.wav`, { type: "audio/wav" });
    const chosen = new DataTransfer();
    chosen.items.add(file);
    const input = document.getElementById("sample-files");
    input.files = chosen.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
})();
