// The quick start field: Ctrl+Enter (Command+Enter) continues, Enter alone begins a new line. The field is marked invalid
// while the sentence below it, which the server sends while one types, is an error.
(() => {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.target.id !== "id_start") return;
    event.preventDefault();
    event.target.form.querySelector(".btn--primary:not(:disabled)")?.click();
  });
  document.addEventListener("htmx:oobAfterSwap", ({ detail: { target } }) => {
    if (target.id !== "id_start_help") return;
    document.getElementById("id_start").setAttribute("aria-invalid", Boolean(target.querySelector(".field__error")));
  });
})();
