// Keeps the order of a page's images from being lost: until the last step is saved the page says so (autosave.js shows
// data-unsaved), and a step that is not sent yet is sent when the page is left. Counts [data-left] down.
(() => {
  const form = () => document.getElementById("image-order");
  let isPending = false; // a step after the last request

  document.addEventListener("arranged", () => (isPending = true));
  document.addEventListener("htmx:beforeRequest", ({ target }) => {
    if (target === form()) isPending = false;
  });
  document.addEventListener("htmx:afterRequest", ({ target, detail: { successful } }) => {
    if (target !== form() || isPending) return;
    if (successful) delete target.dataset.unsaved;
    else target.dataset.unsaved = "failed";
  });
  window.addEventListener("pagehide", () => {
    if (isPending && form()) navigator.sendBeacon(form().action, new FormData(form()));
  });
  setInterval(() => {
    document.querySelectorAll("[data-left]").forEach((element) => {
      element.dataset.left = Math.max(0, Number(element.dataset.left) - 1);
      element.textContent = `${element.dataset.left} s`;
    });
  }, 1000);
})();
