// A plain form is submitted once: the pressed button shows that it is busy, and a second press does nothing. Forms sent
// by htmx use hx-disabled-elt instead. Coming back to the page (back button) releases its forms. While htmx has a request
// of the form under way, the submit waits for its end: two concurrent writes would overwrite each other.
// A form that opens another tab leaves this page as it is, and may be sent again.
(() => {
  const sent = new Set();

  function isHtmx(form, submitter) {
    return [form, submitter].some((element) => element?.matches("[hx-post], [hx-get], [hx-put], [hx-patch], [hx-delete]"));
  }

  function goAfter(form, submitter) {
    submitter?.setAttribute("aria-busy", "true");
    // The next field that waits to be saved starts within the event: look once it is over.
    form.addEventListener("htmx:afterRequest", ({ detail }) => setTimeout(() => {
      submitter?.removeAttribute("aria-busy");
      if (!form.isConnected || sent.has(form)) return;
      // An answer may have replaced the button meanwhile.
      const button = submitter?.isConnected ? submitter : [...form.elements].find(
        ({ type, name, value }) => type === "submit" && name === submitter?.name && value === submitter?.value);
      // Another request may have replaced this one (hx-sync), which ends without success then.
      if (form.querySelector(".htmx-request")) goAfter(form, button);
      else if (detail.successful) form.requestSubmit(button);
    }), { once: true });
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || isHtmx(form, event.submitter)) return;
    if (form.target === "_blank") return;
    const isUnderWay = form.querySelector(".htmx-request");
    if (isUnderWay || sent.has(form)) event.preventDefault();
    if (isUnderWay) goAfter(form, event.submitter);
    if (event.defaultPrevented) return;
    sent.add(form);
    event.submitter?.setAttribute("aria-busy", "true");
  });

  function free() {
    sent.forEach((form) => form.querySelector("[aria-busy]")?.removeAttribute("aria-busy"));
    sent.clear();
  }

  window.addEventListener("pageshow", free);
  // Who is asked whether to leave (unsaved_guard.js), and stays, may press again.
  window.addEventListener("beforeunload", (event) => setTimeout(() => event.defaultPrevented && free()));
})();
