// Reports a failed htmx request: in the dialog it came from, else as a toast that stays until it is closed or a later
// request succeeds. Fragments that refresh themselves report nothing here; offline.js has a banner for them.
// A press that carries its key (`nonce`) is sent again where the portal was too busy to take it: one key is charged once.
(() => {
  const OLD = "This page has expired. Nothing was sent. Reload it.";
  const DOUBT = "We do not know yet whether it was sent. Press again: it is charged at most once.";
  const LOST = "Reelroom did not respond. Your changes are not saved.";
  const AGAIN = "Reelroom did not respond. Try again.";
  const FULL = "Reelroom's disk is full. When there is space again, press again: it is charged at most once.";
  const BUSY = "Reelroom is busy. It is sent again by itself, and charged at most once.";
  const [REPEATS, LONGEST_PAUSE_S] = [3, 30];
  const repeats = new WeakMap(); // of a form
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

  // Whether it will be sent again, after a pause that differs: else all who were refused come back at once.
  function repeat({ elt, xhr, requestConfig: { verb, path, triggeringEvent: event } }) {
    const [form, pauseS] = [elt.closest("form"), Number(xhr.getResponseHeader("Retry-After"))];
    if (xhr.status !== 503 || !form?.elements.nonce || !(pauseS > 0 && pauseS <= LONGEST_PAUSE_S)) return false;
    const count = (repeats.get(form) ?? 0) + 1;
    repeats.set(form, count > REPEATS ? 0 : count);
    if (count > REPEATS) return false;
    event?.submitter?.setAttribute("aria-busy", "true");
    setTimeout(() => {
      event?.submitter?.removeAttribute("aria-busy");
      if (elt.isConnected) htmx.ajax(verb, path, { source: elt, event }); // else its dialog was closed
    }, pauseS * (1 + Math.random()) * 1000);
    return true;
  }

  function clear() {
    document.querySelectorAll("[data-said='failed']").forEach((one) => one.remove());
  }

  function tell({ detail }) {
    if (leaving || !isPressed(detail) || detail.xhr.getResponseHeader("X-CSRF-Failed")) return; // session_check.js
    if (!navigator.onLine && detail.elt.matches("[data-saver]")) return; // the banner and the draft say it
    document.dispatchEvent(new CustomEvent("toast:say", { detail: { says: repeat(detail) ? BUSY : words(detail), mark: "failed", about: detail.elt } }));
  }

  for (const name of ["responseError", "sendError", "timeout"]) document.addEventListener(`htmx:${name}`, tell);
  document.addEventListener("htmx:afterRequest", ({ detail }) => detail.successful && isPressed(detail) && clear());
  window.addEventListener("pagehide", () => (leaving = true));
  window.addEventListener("pageshow", () => (leaving = false));
})();
