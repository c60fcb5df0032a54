// Ctrl+Enter (Command+Enter) in the quick start field continues; Enter alone begins a new line.
(() => {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.target.id !== "id_start") return;
    event.preventDefault();
    event.target.form.querySelector(".btn--primary:not(:disabled)")?.click();
  });
})();
