// The session ended, the team was changed in another tab, or the draft left the studio, while the page holds text that
// was not sent or saved: a toast says so, and no fragment that refreshes itself may redirect the window.
(() => {
  const SAYS = "You were signed out or switched teams in another tab. Copy what you typed, then reload the page.";
  const LEFT = "This item is no longer open. Copy what you typed, then reload the page.";
  const WORDS = "form:is([data-typed], [data-unsaved])";
  let closed = false;

  function tell(says) {
    document.dispatchEvent(new CustomEvent("toast:say", { detail: { says, mark: "ended" } }));
  }

  document.addEventListener("session:ended", () => tell(SAYS)); // a press found it (unsent_forms.js)
  function stay(event) {
    const { xhr, requestConfig } = event.detail;
    const door = xhr.getResponseHeader("HX-Redirect");
    const isPressed = ["click", "submit"].includes(requestConfig.triggeringEvent?.type);
    if (!(door ?? xhr.getResponseHeader("HX-Refresh")) || isPressed || !document.querySelector(`${WORDS}, dialog:modal`)) return;
    event.preventDefault(); // the press of a dialog gets its own answer
    if (!document.querySelector(WORDS) || closed || document.querySelector("[data-said=ended]")) return; // once, however often the parts ask
    tell(door === null || door.startsWith("/accounts/") ? SAYS : LEFT);
  }

  // On the element itself: a push may replace it meanwhile, and then its events no longer reach the document.
  document.addEventListener("htmx:beforeSend", ({ detail: { elt } }) => {
    elt.addEventListener("htmx:beforeOnLoad", stay, { once: true });
  });
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-said=ended] [data-close]")) closed = true;
  });
})();
