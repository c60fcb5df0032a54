// A form that saves itself, by its [data-saver], is data-unsaved from the first key until the server has kept it: typed,
// sent, refused or failed. Until then the draft says so (studio.css) and nobody leaves it unasked (leave.js); what
// failed is sent again by itself.
(() => {
  const AGAIN = 10000; // ms
  let waiting = null;

  const saver = () => document.querySelector("[data-saver]");
  const formOf = (element) => element?.closest("form");
  const isRefused = () => Boolean(document.querySelector("#refusal:not([hidden])"));

  function mark(form, state) {
    if (state) form.dataset.unsaved = state;
    else delete form.dataset.unsaved;
  }

  function sendAgain() {
    clearTimeout(waiting);
    if (formOf(saver())?.dataset.unsaved === "failed") htmx.trigger(saver(), "resend");
  }

  document.addEventListener("input", ({ target: { form } }) => {
    if (form && form === formOf(saver())) mark(form, "typed");
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!event.target.matches("[data-saver]")) return;
    const form = formOf(event.target);
    if (form.dataset.unsaved) mark(form, "sent");
    else event.preventDefault(); // nothing changed since it was saved
  });
  // In its capture: those who hear it in the form find how it went.
  document.addEventListener("htmx:afterRequest", ({ target, detail: { successful, xhr } }) => {
    if (!target.matches("[data-saver]")) return;
    const form = formOf(target);
    const isOver = form.dataset.unsaved === "sent"; // else one typed while it was on its way
    if (isOver) mark(form, successful ? isRefused() && "refused" : "failed");
    clearTimeout(waiting);
    if (!successful && (xhr.status === 0 || xhr.status >= 500)) waiting = setTimeout(sendAgain, AGAIN);
  }, true);
  window.addEventListener("online", sendAgain);
  document.addEventListener("htmx:sseOpen", sendAgain);
})();
