// Typed words of a form that was not sent yet are not thrown away. Who leaves the page is asked first; and a part that
// fetches itself, after the session ended or the team was changed in another tab, does not take the window along.
(() => {
  const ENDED = "You were signed out, or changed the team in another tab. Copy what you typed here, then reload the page.";
  const PRESSES = ["click", "submit"];

  const typed = () => document.querySelector("form[data-typed]");
  const free = (form) => delete form?.dataset.typed;

  function tell() {
    if (document.querySelector("[data-ended]")) return;
    const toast = document.getElementById("failed").content.firstElementChild.cloneNode(true);
    toast.dataset.ended = "";
    toast.querySelector("b").textContent = ENDED;
    document.getElementById("toasts").prepend(toast);
  }

  // A form that saves itself has its own ways (unsaved.js, leave.js).
  document.addEventListener("input", ({ target: { form } }) => {
    if (form?.method === "post" && !form.querySelector("[data-saver]")) form.dataset.typed = "";
  });
  document.addEventListener("submit", ({ target }) => free(target));
  document.addEventListener("htmx:afterRequest", ({ target, detail }) => detail.successful && free(target.closest("form")));
  window.addEventListener("beforeunload", (event) => typed() && event.preventDefault());

  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const { xhr, requestConfig } = event.detail;
    const isLeaving = ["HX-Redirect", "HX-Refresh"].some((name) => xhr.getResponseHeader(name));
    const isAsked = PRESSES.includes(requestConfig.triggeringEvent?.type);
    if (!isLeaving || isAsked || !document.querySelector("form:is([data-typed], [data-unsaved])")) return;
    event.preventDefault();
    tell();
  });
})();
