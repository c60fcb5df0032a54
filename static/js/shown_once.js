// A dialog with a value that cannot be shown again asks once before it closes, unless the reader has said that it is saved.
(() => {
  function mustAsk(dialog) {
    const notice = dialog?.querySelector("[data-unsaved-value]");
    if (!notice?.hidden || dialog.querySelector("[data-value-saved]").checked) return false;
    notice.hidden = false;
    return true;
  }

  // Before the listener that closes dialogs (shell/dialogs.js).
  window.addEventListener("click", (event) => {
    const dialog = event.target.closest?.("[data-shown-once]");
    const closes = event.target.closest?.("[data-close]") || event.target === dialog;
    if (!closes || !mustAsk(dialog)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
  document.addEventListener("cancel", (event) => {
    if (event.target.matches?.("[data-shown-once]") && mustAsk(event.target)) event.preventDefault();
  }, { capture: true });
})();
