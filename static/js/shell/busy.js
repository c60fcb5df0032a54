// One press, one request: a plain form that was sent shows it and takes no second press; one that only asks may ask
// again. Forms of htmx have hx-disabled-elt for that. Coming back to a page (the back button) sets its forms free again.
// A form one of whose fields is being saved goes after that: two at once would be told of each other.
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
      if (detail.successful && form.isConnected && !sent.has(form)) form.requestSubmit(submitter);
    }), { once: true });
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || isHtmx(form, event.submitter)) return;
    if (form.querySelector(".htmx-request")) {
      event.preventDefault();
      goAfter(form, event.submitter);
      return;
    }
    if (sent.has(form)) {
      event.preventDefault();
      return;
    }
    sent.add(form);
    event.submitter?.setAttribute("aria-busy", "true");
  });

  function free() {
    sent.forEach((form) => form.querySelector("[aria-busy]")?.removeAttribute("aria-busy"));
    sent.clear();
  }

  window.addEventListener("pageshow", free);
  // Who is asked whether to leave (leave.js), and stays, may press again.
  window.addEventListener("beforeunload", (event) => setTimeout(() => event.defaultPrevented && free()));
})();
