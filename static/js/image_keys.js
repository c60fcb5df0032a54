// Moves an image of a page by its handle with the keyboard: Space picks it up and drops it, arrows move it, Escape puts
// it back.
(() => {
  let picked = null;
  let follower = null; // the tile after its first place
  let isMoving = false;

  function pick(tile) {
    picked?.removeAttribute("data-picked");
    [picked, follower] = [tile, tile?.nextElementSibling];
    tile?.setAttribute("data-picked", "");
  }

  function drop(before) {
    isMoving = true; // its focus is taken away and given back
    picked.dispatchEvent(new CustomEvent("image:drop", { bubbles: true, detail: before }));
    isMoving = false;
  }

  function press(key) {
    const [previous, next] = [picked.previousElementSibling, picked.nextElementSibling];
    if (["ArrowLeft", "ArrowUp"].includes(key) && previous) drop(previous);
    if (["ArrowRight", "ArrowDown"].includes(key) && next) drop(next.nextElementSibling);
    if (key === "Escape") drop(follower);
    if ([" ", "Escape"].includes(key)) pick(null);
  }

  document.addEventListener("keydown", (event) => {
    const tile = event.target.closest?.(".tile__grip")?.closest(".tile");
    const keys = [" ", "Escape", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
    if (!tile || !keys.includes(event.key) || (picked !== tile && event.key !== " ")) return;
    event.preventDefault();
    if (picked === tile) press(event.key);
    else pick(tile);
  });
  document.addEventListener("focusout", () => picked && !isMoving && pick(null));
})();
