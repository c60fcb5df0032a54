// Copies the text of a[data-copy] to the clipboard at a press, and says so in its label and in the status after it. Where the
// browser has no clipboard or refuses, its link leads to the text.
document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("a[data-copy]");
  if (!link || !navigator.clipboard) return;
  event.preventDefault();
  try {
    await navigator.clipboard.writeText(link.dataset.copy);
    for (const place of [link.querySelector("span"), link.nextElementSibling]) place.textContent = "Copied";
  } catch {
    location.assign(link.href);
  }
});
