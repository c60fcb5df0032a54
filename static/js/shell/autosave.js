// The state of a form that saves itself by its [data-saver]: data-unsaved is typed, sent, refused or failed until the
// server has saved it. The draft shows it (studio.css) and unsaved_guard.js asks before leaving; a failed save is
// repeated automatically.
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
