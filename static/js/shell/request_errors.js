// Reports a failed htmx request: in the dialog it came from, else as a toast that stays until it is closed or a later
// request succeeds. Fragments that refresh themselves report nothing here; offline.js has a banner for them.
(() => {
  const OLD = "This page has expired. Nothing was sent. Reload it.";
  const DOUBT = "We do not know yet whether it was sent. Press again: it is charged at most once.";
  const LOST = "Reelroom did not respond. Your changes are not saved.";
  const AGAIN = "Reelroom did not respond. Try again.";
  const FULL = "Reelroom's disk is full. When there is space again, press again: it is charged at most once.";
  const PRESSES = ["click", "submit", "change", "input", "search"];
  let leaving = false;

  function isPressed({ requestConfig: { verb, triggeringEvent } }) {
    return verb !== "get" || PRESSES.includes(triggeringEvent?.type);
  }

  function words({ elt, xhr, requestConfig: { verb } }) {
    if (xhr.getResponseHeader("Content-Type")?.startsWith("text/plain") && [400, 413].includes(xhr.status)) return xhr.responseText;
    if (xhr.status >= 400 && xhr.status < 500) return OLD;
    if (xhr.status === 507) return FULL;
    if (verb === "get") return AGAIN;
    return elt.closest("form")?.elements.nonce ? DOUBT : LOST;
  }

  function clear() {
    document.querySelectorAll("[data-said='failed']").forEach((one) => one.remove());
  }

  function tell({ detail }) {
    if (leaving || !isPressed(detail) || detail.xhr.getResponseHeader("X-CSRF-Failed")) return; // session_check.js
    if (!navigator.onLine && detail.elt.matches("[data-saver]")) return; // the banner and the draft say it
    const press = { ...detail };
    document.dispatchEvent(new CustomEvent("press:refused", { detail: press })); // repeat_press.js
    const says = press.repeats ?? words(detail);
    document.dispatchEvent(new CustomEvent("toast:say", { detail: { says, mark: "failed", about: detail.elt } }));
  }

  for (const name of ["responseError", "sendError", "timeout"]) document.addEventListener(`htmx:${name}`, tell);
  document.addEventListener("htmx:afterRequest", ({ detail }) => detail.successful && isPressed(detail) && clear());
  window.addEventListener("pagehide", () => (leaving = true));
  window.addEventListener("pageshow", () => (leaving = false));
})();
