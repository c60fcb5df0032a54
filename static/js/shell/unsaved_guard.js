// Asks before the reader leaves a form that is data-unsaved (autosave.js). A link pressed while a save is on its way is
// followed when the save has succeeded. [data-of-saved], such as Render, acts on saved settings only and does nothing
// until what the page shows is saved.
(() => {
  const SAVING = "Your last change is being saved. Render when its price is shown.";
  const NOT_SAVED = "Your last change is not saved, so it would not be rendered.";
  let submitted = false;

  const unsaved = () => document.querySelector("form[data-unsaved]");
  const isOnItsWay = () => navigator.onLine && unsaved()?.dataset.unsaved === "sent";

  function goAfter(link) {
    unsaved().addEventListener("htmx:afterRequest", () => setTimeout(() => {
      if (isOnItsWay()) goAfter(link); // the next field that waited to be saved
      else if (!unsaved()) location.assign(link.href);
    }), { once: true });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.matches("[hx-get], [target], [download], [href^='#']") || !isOnItsWay()) return;
    event.preventDefault();
    goAfter(link);
  });
  document.addEventListener("htmx:confirm", (event) => {
    const state = unsaved()?.dataset.unsaved;
    if (!state || !event.target.matches("[data-of-saved]")) return;
    event.preventDefault();
    const says = ["typed", "sent"].includes(state) ? SAVING : NOT_SAVED;
    document.dispatchEvent(new CustomEvent("toast:say", { detail: { says, mark: "unsaved" } }));
  });
  document.addEventListener("htmx:afterRequest", () => unsaved() ?? document.querySelector("[data-said='unsaved']")?.remove());
  // Its own submit takes the words along; another form of the page (theme, sign-out) leaves them.
  document.addEventListener("submit", (event) => {
    submitted = !event.defaultPrevented && event.target === unsaved();
  });
  window.addEventListener("pageshow", () => (submitted = false));
  window.addEventListener("beforeunload", (event) => {
    if (unsaved() && !isOnItsWay() && !submitted) event.preventDefault();
  });
})();
