// Takes the first or last frame of a finished video (dialog[data-frames]) into the slot of that name, as a picture that is
// uploaded like any other; of a slot for films the video itself, by its id.
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

  function fill(slot, { blob, id, origin }) {
    const source = slot.querySelector("input[name=origin]"); // of a scene's frame: where it is from
    if (source) source.value = origin;
    const files = new DataTransfer();
    if (blob) files.items.add(new File([blob], "frame.jpg", { type: blob.type }));
    const input = blob ? slot.querySelector("input[type=file]") : Object.assign(document.createElement("input"), { type: "hidden" });
    if (blob) input.files = files.files;
    else slot.append(Object.assign(input, { name: `use-${slot.dataset.slot}`, value: id }));
    for (const name of ["input", "change"]) input.dispatchEvent(new Event(name, { bubbles: true }));
  }

  async function take(dialog, what) {
    const [shot, problem] = [dialog.querySelector("[name=shot]:checked"), dialog.querySelector("[data-frame-problem]")];
    const slot = document.querySelector(`[data-slot="${dialog.dataset.frames}"]`);
    if (!shot || !slot) return;
    const blob = what === "film" ? null : await frameOf(shot.dataset.film, what === "last").catch(() => null);
    problem.hidden = Boolean(blob) || what === "film";
    if (!problem.hidden) return;
    dialog.close();
    fill(slot, { blob, id: shot.value, origin: `${shot.parentElement.textContent.trim()}, ${what} frame` });
  }

  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("dialog[data-frames] [data-take]");
    if (button) take(button.closest("dialog"), button.dataset.take);
  });
})();
