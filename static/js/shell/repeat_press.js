// A press that carries its key (`nonce`) is sent again where the portal was too busy to take it: one key is charged at most
// once, however often it comes. `repeats` of the event is what the person is told meanwhile (request_errors.js).
(() => {
  const BUSY = "Reelroom is busy. It is sent again by itself, and charged at most once.";
  const [REPEATS, LONGEST_PAUSE_S] = [3, 30];
  const counts = new WeakMap(); // of a form

  document.addEventListener("press:refused", ({ detail }) => {
    const { elt, xhr, requestConfig: { verb, path, triggeringEvent: event } } = detail;
    const [form, pauseS] = [elt.closest("form"), Number(xhr.getResponseHeader("Retry-After"))];
    if (xhr.status !== 503 || !form?.elements.nonce || !(pauseS > 0 && pauseS <= LONGEST_PAUSE_S)) return;
    const count = (counts.get(form) ?? 0) + 1;
    counts.set(form, count > REPEATS ? 0 : count);
    if (count > REPEATS) return;
    detail.repeats = BUSY;
    event?.submitter?.setAttribute("aria-busy", "true");
    setTimeout(() => {
      event?.submitter?.removeAttribute("aria-busy");
      if (elt.isConnected) htmx.ajax(verb, path, { source: elt, event }); // else its dialog was closed
    }, pauseS * (1 + Math.random()) * 1000); // not all who were refused at the same moment
  });
})();
