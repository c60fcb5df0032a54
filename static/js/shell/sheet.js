// What somebody is about to choose in, the open sheet of filters on a phone or the ledger's days, stays while the list
// is laid anew; only what it sends along follows. A sheet that is closed without being sent forgets what was chosen.
(() => {
  document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
    const { target, fragment } = detail;
    if (!target.matches("#filters[open] *, #ledger-dates:focus-within")) return;
    detail.shouldSwap = false;
    target.querySelector("[hidden]").replaceWith(fragment.querySelector("[hidden]"));
  });
  document.addEventListener("close", ({ target }) => target.id === "filters" && target.querySelector("form").reset(), true);
})();
