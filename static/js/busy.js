// One press, one request: a plain form that was sent shows it and takes no second press. Forms of htmx have
// hx-disabled-elt for that. Coming back to a page (the back button) sets its forms free again.
(() => {
  const sent = new Set();

  function isHtmx(form, submitter) {
    return [form, submitter].some((element) => element?.matches("[hx-post], [hx-get], [hx-put], [hx-patch], [hx-delete]"));
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method === "dialog" || isHtmx(form, event.submitter)) return;
    if (sent.has(form)) {
      event.preventDefault();
      return;
    }
    sent.add(form);
    event.submitter?.setAttribute("aria-busy", "true");
  });

  window.addEventListener("pageshow", () => {
    sent.forEach((form) => form.querySelector("[aria-busy]")?.removeAttribute("aria-busy"));
    sent.clear();
  });
})();
