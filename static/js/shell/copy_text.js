// Copies the text of a pressed [data-copy] and says so in its place for two seconds.
(() => {
  const SHOWN = 2000;

  async function copy(button) {
    const label = button.querySelector("span") ?? button;
    const words = label.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {
      return; // without permission, or over plain http: the text can be selected
    }
    if (button.dataset.copied !== undefined) return;
    button.dataset.copied = "";
    label.textContent = "Copied";
    setTimeout(() => {
      label.textContent = words;
      delete button.dataset.copied;
    }, SHOWN);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
})();
