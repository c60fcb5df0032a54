// Ctrl or Cmd + Enter in the composer of clips opens the price question, after what was typed is saved and priced.
(() => {
  const WAIT = 15000; // ms, for a save and its price
  const EVERY = 150;

  const button = () => [...document.querySelectorAll("[data-generate]")].find((one) => one.checkVisibility());
  const isSaving = (form) => ["typed", "sent"].includes(form.dataset.unsaved);

  function open(form, until) {
    if (!isSaving(form) && button()) button().click();
    else if (performance.now() < until && (isSaving(form) || form.querySelector(".bone"))) setTimeout(() => open(form, until), EVERY);
    else document.getElementById("clip-why")?.scrollIntoView({ block: "center" });
  }

  document.addEventListener("keydown", (event) => {
    const form = event.target.closest?.("#composer");
    if (!form || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (form.dataset.unsaved === "typed") htmx.trigger(form.querySelector("[data-saver]"), "resend");
    open(form, performance.now() + WAIT);
  });
})();
