// The session ended, or the team was changed in another tab, while words stand in the page that were not sent or saved:
// that is said, where it is seen, and no part that fetches itself takes the window along.
(() => {
  const SAYS = "You were signed out, or changed the team in another tab. Copy what you typed here, then reload the page.";
  const WORDS = "form:is([data-typed], [data-unsaved])";

  function tell() {
    document.querySelectorAll("[data-ended]").forEach((one) => one.remove());
    const toast = document.getElementById("failed").content.firstElementChild.cloneNode(true);
    toast.dataset.ended = "";
    toast.querySelector("b").textContent = SAYS;
    (document.querySelector("dialog:modal .dialog__body") ?? document.getElementById("toasts")).prepend(toast);
    toast.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("session:ended", tell); // a press found it (typed.js)
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const { xhr, requestConfig } = event.detail;
    const isLeaving = ["HX-Redirect", "HX-Refresh"].some((name) => xhr.getResponseHeader(name));
    const isPressed = ["click", "submit"].includes(requestConfig.triggeringEvent?.type);
    if (!isLeaving || isPressed || !document.querySelector(WORDS)) return;
    event.preventDefault();
    if (!document.querySelector("[data-ended]")) tell(); // once, however often the parts ask
  });
})();
