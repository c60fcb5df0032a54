// In an open dialog[data-keys], the arrow keys press the link with the same data-key: the next or the previous row.
document.addEventListener("keydown", (event) => {
  const dialog = event.target.closest?.("dialog[data-keys]");
  if (!dialog || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = dialog.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!link) return;
  event.preventDefault();
  link.click();
});
