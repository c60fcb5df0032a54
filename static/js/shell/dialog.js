// Opens dialog[data-open] as a modal: the one that came with the page, and each that htmx puts into #dialogs.
// [data-dialog="id"] opens one that is already there. Focus starts on [data-cancel] and goes back on close.
(() => {
  function open(dialog) {
    if (dialog.open && dialog.matches(":modal")) return;
    const opener = document.activeElement;
    dialog.removeAttribute("open");
    dialog.showModal();
    dialog.querySelector("[data-cancel]")?.focus();
    dialog.addEventListener("close", () => closed(dialog, opener), { once: true });
  }

  function closed(dialog, opener) {
    if (dialog.hasAttribute("data-page")) {
      location.assign(dialog.querySelector("[data-cancel]").href);
      return;
    }
    if (dialog.closest("#dialogs")) dialog.remove();
    if (opener?.isConnected) opener.focus();
  }

  function openAll(root) {
    if (root.matches?.("dialog[data-open]")) open(root);
    root.querySelectorAll?.("dialog[data-open]").forEach(open);
  }

  document.addEventListener("click", (event) => {
    const closer = event.target.closest("dialog [data-close]");
    const opener = event.target.closest("[data-dialog]");
    if (closer) {
      event.preventDefault();
      closer.closest("dialog").close();
    } else if (opener) {
      event.preventDefault();
      const dialog = document.getElementById(opener.dataset.dialog);
      if (dialog) open(dialog);
    } else if (event.target.matches("dialog") && event.target.matches(":modal")) {
      event.target.close(); // the press fell on the ground beside it
    }
  });
  document.addEventListener("DOMContentLoaded", () => openAll(document));
  document.addEventListener("htmx:load", (event) => openAll(event.target));
})();
