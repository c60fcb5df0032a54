// Drags a scene by its grip to another place, with mouse, pen or finger: a line shows where it lands, Escape ends it.
// A press without a drag opens the grip's menu.
(() => {
  const STARTS_AFTER = 6; // px
  let [lifted, start, over, isDragged] = [null, null, null, false];
  const tiles = () => [...document.querySelectorAll("[data-board] > li")];

  function mark(tile) { // it lands before this one, or (null) at the end
    over?.removeAttribute("data-drop");
    over = tile;
    over?.setAttribute("data-drop", "");
  }

  function tileAt({ clientX, clientY }) {
    const isList = getComputedStyle(lifted.parentElement).display === "grid";
    return tiles().find((tile) => {
      const box = tile.getBoundingClientRect();
      return isList ? clientY < box.top + box.height / 2 : clientX < box.left + box.width / 2;
    }) ?? null;
  }

  function end(drops) {
    if (!lifted) return;
    const [tile, before] = [lifted, over];
    mark(null);
    tile.removeAttribute("data-lifted");
    lifted = null;
    if (!drops || !isDragged || before === tile) return;
    const rest = tiles().filter((one) => one !== tile);
    const number = before ? rest.indexOf(before) + 1 : tiles().length;
    if (number !== tiles().indexOf(tile) + 1) tile.dispatchEvent(new CustomEvent("scene:drop", { bubbles: true, detail: number }));
  }

  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest?.(".grip") || event.button) return;
    [lifted, start, isDragged] = [event.target.closest("li"), event, false];
  });
  document.addEventListener("pointermove", (event) => {
    if (!lifted || (!isDragged && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < STARTS_AFTER)) return;
    isDragged = lifted.toggleAttribute("data-lifted", true);
    mark(tileAt(event));
  });
  document.addEventListener("pointerup", () => end(true));
  document.addEventListener("pointercancel", () => end(false));
  document.addEventListener("keydown", ({ key }) => key === "Escape" && end(false));
  window.addEventListener("click", (event) => {
    if (isDragged && event.target.closest?.(".grip")) [event.stopPropagation(), event.preventDefault()];
    isDragged = false;
  }, true);
})();
