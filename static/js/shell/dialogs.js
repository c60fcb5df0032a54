// Opens dialog[data-open] as a modal: the one of the page, and each that htmx swaps into #dialogs. [data-dialog="id"] opens
// one of the page. The focus starts on a refused field, else on [autofocus], else on [data-cancel]; on close the opener has it.
(() => {
  let [opener, pressed, isPage] = [null, null, false]; // the page has nothing else (data-page), also if an answer replaced it

  // A dialog may replace another one, and the part with its opener may be laid anew meanwhile.
  function place() {
    const twins = [...document.querySelectorAll("a[href]")].filter((link) => link.href === opener?.href);
    return [opener, ...twins].find((one) => one?.checkVisibility()) ?? document.getElementById("main");
  }

  function open(dialog) {
    if (!dialog || (dialog.open && dialog.matches(":modal"))) return;
    if (!document.activeElement.matches("body, dialog *")) opener = document.activeElement;
    dialog.removeAttribute("open");
    dialog.showModal();
    if ((isPage ||= dialog.hasAttribute("data-page"))) dialog.querySelector(".dialog__body")?.prepend(...document.querySelectorAll("#toasts [data-toast]"));
    ["[aria-invalid=true]", "[autofocus]", "[data-cancel]"].map((kind) => dialog.querySelector(kind)).find(Boolean)?.focus();
    dialog.addEventListener("close", () => closed(dialog), { once: true });
  }

  function closed(dialog) {
    delete dialog.querySelector("form")?.dataset.typed; // given up, and not seen any more
    if (isPage) return location.assign(dialog.querySelector("[data-cancel]").href);
    if (dialog.closest("#dialogs")) dialog.remove();
    place()?.focus({ preventScroll: true });
    opener = null;
  }

  function openAll(root) {
    if (root.matches?.("dialog[data-open]")) open(root);
    root.querySelectorAll?.("dialog[data-open]").forEach(open);
  }

  document.addEventListener("pointerdown", (event) => (pressed = event.target));
  document.addEventListener("click", (event) => {
    const closer = event.target.closest("dialog [data-close]:not([data-toast] *)");
    const id = event.target.closest("[data-dialog]")?.dataset.dialog;
    if (closer || id) event.preventDefault();
    if (closer) {
      closer.closest("dialog").close();
    } else if (id) {
      open(document.getElementById(id));
    } else if (event.target === pressed && pressed.matches("dialog:modal:not(:has([data-typed]))")) {
      pressed.close(); // the press fell on the ground beside it; one that selects text only ends there
    }
  });
  document.addEventListener("DOMContentLoaded", () => openAll(document));
  document.addEventListener("htmx:load", (event) => openAll(event.target));
})();
