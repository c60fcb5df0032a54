// Copies the text of a pressed [data-copy] to the clipboard, and says so in its label for two seconds and in the status after
// it, if there is one. Where the browser has no clipboard or refuses, a link leads to the text.
(() => {
  const SHOWN = 2000;

  function say(source) {
    const status = source.nextElementSibling?.matches("[role=status]") ? source.nextElementSibling : null;
    if (status) status.textContent = "Copied";
    const label = source.querySelector("span") ?? source;
    if (source.dataset.copied !== undefined) return;
    const words = label.textContent;
    source.dataset.copied = "";
    label.textContent = "Copied";
    setTimeout(() => {
      label.textContent = words;
      delete source.dataset.copied;
    }, SHOWN);
  }

  document.addEventListener("click", async (event) => {
    const source = event.target.closest?.("[data-copy]");
    if (!source || !navigator.clipboard) return;
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(source.dataset.copy);
      say(source);
    } catch {
      if (source.href) location.assign(source.href); // else the text can be selected
    }
  });
})();
