// Who leaves a form that is data-unsaved (unsaved.js) is asked first. A link that is pressed while it is being saved
// goes after that, and not at all if it was not saved: the page tells why.
(() => {
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
  // Its own submit takes the words along; another form of the page (theme, sign-out) leaves them.
  document.addEventListener("submit", (event) => {
    submitted = !event.defaultPrevented && event.target === unsaved();
  });
  window.addEventListener("pageshow", () => (submitted = false));
  window.addEventListener("beforeunload", (event) => {
    if (unsaved() && !isOnItsWay() && !submitted) event.preventDefault();
  });
})();
