// Whether what this page sends is accepted. After a sign-in in another tab its CSRF token is refused: another one is fetched,
// if the same person is in the same team. Then what saves itself is sent again, and a press may be repeated: nothing of a
// refused request was executed.
(() => {
  const AGAIN = "You signed in again in another tab. Nothing was sent. Press again.";
  const PATIENCE = 5000; // ms; who does not answer is sent to all the same
  const AT_MOST_EVERY = 10000; // ms: without cookies each new token would be refused as well
  let [running, renewedAt] = [null, -Infinity];

  // Asked as a part of the page asks: the middleware answers then, instead of the view.
  function ask(method) {
    const headers = { ...JSON.parse(document.body.getAttribute("hx-headers")), "HX-Request": "true" };
    const request = { method, headers, signal: AbortSignal.timeout(PATIENCE) };
    return fetch(document.body.dataset.session, request).catch(() => null);
  }

  async function fetchToken() {
    const answer = performance.now() - renewedAt > AT_MOST_EVERY && (await ask("GET"));
    if (!answer || !answer.headers.get("Content-Type")?.startsWith("text/plain")) return false;
    const token = await answer.text();
    const headers = { ...JSON.parse(document.body.getAttribute("hx-headers")), "X-CSRFToken": token };
    document.body.setAttribute("hx-headers", JSON.stringify(headers));
    document.querySelectorAll("[name=csrfmiddlewaretoken]").forEach((input) => (input.value = token));
    document.querySelectorAll("[data-said=ended]").forEach((toast) => toast.remove());
    renewedAt = performance.now();
    return true;
  }

  const renew = () => (running ??= fetchToken().finally(() => (running = null)));

  async function isOver() {
    const answer = await ask("POST");
    return answer?.status === 403 ? !(await renew()) : answer?.status === 200;
  }

  async function repeat({ xhr, requestConfig: { elt, verb, path, triggeringEvent } }) {
    if (!xhr.getResponseHeader("X-CSRF-Failed")) return;
    if (!(await renew())) document.dispatchEvent(new CustomEvent("session:ended"));
    else if (!["click", "submit"].includes(triggeringEvent?.type)) htmx.ajax(verb, path, { source: elt, event: triggeringEvent });
    else document.dispatchEvent(new CustomEvent("toast:say", { detail: { says: AGAIN, mark: "failed", about: elt } }));
  }

  document.addEventListener("session:check", ({ detail }) => (detail.isOver = isOver()));
  document.addEventListener("htmx:responseError", ({ detail }) => repeat(detail));
})();
