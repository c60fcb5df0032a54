// Puts the images of a page in order: by their buttons, or where image_keys.js and image_drag.js drop them (image:drop,
// the tile that it goes before). Each step is announced; the form is sent once, 600 ms after the last one (its
// hx-trigger). The buttons work without this script, too.
(() => {
  const used = () => document.getElementById("tiles-used");

  function refresh() {
    if (!used()) return;
    document.querySelectorAll(".tile__grip").forEach((grip) => (grip.hidden = !used().contains(grip)));
    document.querySelectorAll(".tile [name='assets']").forEach((input) => (input.disabled = !used().contains(input)));
  }

  function put(tile, list, before) {
    const focused = document.activeElement; // moving an element takes its focus away
    const hadFocus = tile.contains(focused);
    list.insertBefore(tile, before);
    refresh();
    const others = tile.querySelectorAll(".tile__grip, [value^='use:']");
    if (hadFocus) [focused, ...others].find((element) => element.checkVisibility())?.focus();
    const place = list === used() ? `place ${[...list.children].indexOf(tile) + 1} of ${list.children.length}` : "not used";
    document.getElementById("image-said").textContent = `“${tile.dataset.name}”: ${place}.`;
    list.closest("form").dataset.unsaved = "sent";
    htmx.trigger(list.closest("form"), "arranged");
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#image-order [name='move']");
    if (!button) return;
    event.preventDefault();
    const [tile, action] = [button.closest(".tile"), button.value.split(":")[0]];
    if (action === "earlier" && tile.previousElementSibling) put(tile, used(), tile.previousElementSibling);
    if (action === "later" && tile.nextElementSibling) put(tile, used(), tile.nextElementSibling.nextElementSibling);
    if (action === "remove") put(tile, document.getElementById("tiles-unused"), null);
    if (action === "use") put(tile, used(), null);
  });
  document.addEventListener("image:drop", ({ target, detail }) => put(target, used(), detail));
  document.addEventListener("htmx:load", refresh);
})();
