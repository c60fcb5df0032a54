// Fills the slot of a reference at the event slot:take: with the first or last frame of a finished video, drawn here and
// uploaded like any other picture; with the video itself, by its id, if `what` is "film". `done` hears whether it could.
(() => {
  const NEAR_END = 0.04; // s: a seek to the very end shows nothing
  const QUALITY = 0.92;

  const seen = (film, name) => new Promise((resolve, reject) => {
    film.addEventListener(name, resolve, { once: true });
    film.addEventListener("error", reject, { once: true });
  });

  async function frameOf(url, isLast) {
    const film = Object.assign(document.createElement("video"), { muted: true, preload: "auto", src: url });
    await seen(film, "loadeddata");
    film.currentTime = isLast ? Math.max(0, film.duration - NEAR_END) : 0.001;
    await seen(film, "seeked");
    const canvas = Object.assign(document.createElement("canvas"), { width: film.videoWidth, height: film.videoHeight });
    canvas.getContext("2d").drawImage(film, 0, 0);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
  }

  function add(slot, name, value) {
    return slot.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name: `${name}-${slot.dataset.slot}`, value }));
  }

  function fill(slot, { blob, id, what, origin }) {
    let input = slot.querySelector("input[type=file]");
    const source = slot.querySelector("input[name=origin]"); // of a scene's frame: where it is from, in words
    if (source) source.value = origin;
    if (blob) {
      const files = new DataTransfer();
      files.items.add(new File([blob], "frame.jpg", { type: blob.type }));
      input.files = files.files;
      if (!source) for (const [name, value] of [["from", id], ["frame", what]]) add(slot, name, value);
    } else input = add(slot, "use", id);
    for (const name of ["input", "change"]) input.dispatchEvent(new Event(name, { bubbles: true }));
  }

  document.addEventListener("slot:take", async ({ target, detail: { what, film, id, origin, done } }) => {
    const blob = what === "film" ? null : await frameOf(film, what === "last").catch(() => null);
    const taken = Boolean(blob) || what === "film";
    if (taken) fill(target, { blob, id, what, origin });
    done(taken);
  });
})();
