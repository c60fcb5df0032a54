// Takes a finished video into the slot of a reference: the one chosen in dialog[data-frames], or the one that the page was
// opened for ([data-take-now] in its slot).
(() => {
  const take = (slot, detail) => slot.dispatchEvent(new CustomEvent("slot:take", { bubbles: true, detail }));

  function takeChosen(dialog, what) {
    const [shot, problem] = [dialog.querySelector("[name=shot]:checked"), dialog.querySelector("[data-frame-problem]")];
    const slot = document.querySelector(`[data-slot="${dialog.dataset.frames}"]`);
    const done = (taken) => (taken ? dialog.close() : (problem.hidden = false));
    if (!shot || !slot) return;
    const origin = `${shot.parentElement.textContent.trim()}, ${what} frame`;
    take(slot, { what, film: shot.dataset.film, id: shot.value, origin, done });
  }

  function takeAtOnce(note) {
    const { takeNow: what, film, id, says, failed } = note.dataset;
    const url = new URL(location);
    url.searchParams.delete("frame"); // once
    history.replaceState(history.state, "", url);
    [note.hidden, note.textContent] = [false, says];
    note.closest("[data-slot]").scrollIntoView({ block: "center" });
    take(note.closest("[data-slot]"), { what, film, id, done: (taken) => !taken && (note.textContent = failed) });
  }

  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("dialog[data-frames] [data-take]");
    if (button) takeChosen(button.closest("dialog"), button.dataset.take);
  });
  const start = () => document.querySelectorAll("[data-take-now]").forEach(takeAtOnce);
  document.addEventListener("htmx:load", start, { once: true });
})();
