// Delays swaps between a press and its click: a button that is replaced in between gets no click.
(() => {
  const CLICK_COMES = 100; // ms after a finger is up; without a click (a drag, a scroll) the press ends then
  let [pressed, ending, waiting] = [false, null, []];

  function begin() {
    clearTimeout(ending);
    pressed = true;
  }

  function end(wait = 0) {
    clearTimeout(ending);
    if (pressed) ending = setTimeout(over, wait); // after those who hear the click
  }

  function over() {
    pressed = false;
    waiting.splice(0).forEach((lay) => lay());
  }

  const hear = (name, act) => window.addEventListener(name, act, true);
  hear("pointerdown", (event) => event.button === 0 && begin());
  hear("keydown", (event) => event.key === " " && begin());
  ["pointerup", "keyup"].forEach((name) => hear(name, () => end(CLICK_COMES)));
  // The end of a press may be kept for itself by a scroll, by another window, or by a menu of the system.
  ["click", "pointercancel"].forEach((name) => hear(name, () => end()));
  hear("blur", (event) => event.target === window && end());
  hear("pointermove", (event) => pressed && !event.buttons && end(CLICK_COMES));

  // What the stream brings. What it touched is asked for when the answers that waited are laid, and hear of it.
  const hold = (event) => {
    if (!pressed) return;
    event.stopImmediatePropagation();
    const tell = () => document.dispatchEvent(new CustomEvent(event.type, { detail: event.detail }));
    waiting.push(() => setTimeout(tell));
  };
  ["live:news", "live:touched"].forEach((name) => document.addEventListener(name, hold, true));
  // What htmx asked for: its own handling of the answer waits as a whole.
  document.addEventListener("htmx:beforeSend", ({ detail: { xhr } }) => {
    const load = xhr.onload;
    const lay = () => load.call(xhr);
    xhr.onload = () => (pressed ? waiting.push(lay) : lay());
  });
})();
