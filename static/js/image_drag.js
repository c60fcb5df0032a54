// Drags an image of a page by its handle to another place, with mouse, pen or finger. image_order.js puts it there.
(() => {
  let dragged = null;
  let over = null;

  function mark(tile) {
    over?.removeAttribute("data-over");
    over = tile && tile !== dragged && tile.parentElement === dragged.parentElement ? tile : null;
    const follows = over && dragged.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING;
    over?.setAttribute("data-over", follows ? "after" : "before");
  }

  function end(drops) {
    if (!dragged) return;
    const [tile, target] = [dragged, over];
    const before = target?.dataset.over === "after" ? target.nextElementSibling : target;
    mark(null);
    tile.removeAttribute("data-picked");
    dragged = null;
    if (drops && target) tile.dispatchEvent(new CustomEvent("image:drop", { bubbles: true, detail: before }));
  }

  document.addEventListener("pointerdown", (event) => {
    const grip = event.target.closest?.(".tile__grip");
    if (!grip || event.button) return;
    grip.setPointerCapture(event.pointerId);
    dragged = grip.closest(".tile");
    dragged.setAttribute("data-picked", "");
  });
  document.addEventListener("pointermove", (event) => {
    if (dragged) mark(document.elementFromPoint(event.clientX, event.clientY)?.closest(".tile"));
  });
  document.addEventListener("pointerup", () => end(true));
  document.addEventListener("pointercancel", () => end(false));
})();
