// Protects text typed into a form that was not submitted yet: the reader is asked before leaving the page, and a submit first
// checks that the session is still valid. After its end, or a change of the team, the text would be lost.
(() => {
  const session = new WeakMap(); // of a form that is pressed: "asked", then "stands"

  // An answer may have replaced the form meanwhile, or its button.
  const target = (form) => form.getAttribute("action");
  const sameForm = (form) => (form.isConnected ? form : [...document.forms].find((one) => target(one) === target(form)));
  const sameButton = (form, old) =>
    [...form.elements].find(({ type, name, value }) => type === "submit" && name === old.name && value === old.value);
  const free = (form) => delete form?.dataset.typed;

  async function press(event) { // before anybody else hears of it
    let { target: form, submitter } = event;
    if (event.defaultPrevented) return;
    if (session.get(form) === "stands") return free(form);
    if (!form.matches("[data-typed], [data-unsaved]")) return;
    event.preventDefault();
    event.stopPropagation();
    if (session.has(form)) return; // a second press meanwhile
    session.set(form, "asked");
    submitter?.setAttribute("aria-busy", "true");
    const check = {};
    document.dispatchEvent(new CustomEvent("session:check", { detail: check })); // session_check.js
    const over = await check.isOver;
    submitter?.removeAttribute("aria-busy");
    session.delete(form);
    form = sameForm(form);
    if (!form) return; // what it was for is over
    session.set(form, "stands");
    if (over) document.dispatchEvent(new CustomEvent("session:ended"));
    else if (submitter) sameButton(form, submitter)?.click(); // of a submit alone htmx does not know whose it is
    else form.requestSubmit();
    session.delete(form);
  }

  document.addEventListener("input", ({ target: { form } }) => { // autosave.js marks one that saves itself
    if (form?.method === "post" && !form.querySelector("[data-saver]") && !form.matches("[hx-trigger='change']")) form.dataset.typed = "";
  });
  window.addEventListener("submit", press, true);
  document.addEventListener("htmx:afterRequest", ({ target, detail: { successful, requestConfig } }) => {
    // Who only asks has not sent them.
    if (successful && requestConfig.verb !== "get" && !target.closest("[data-keeps-typed]")) free(target.closest("form"));
  });
  window.addEventListener("beforeunload", (event) => {
    if (document.querySelector("form[data-typed]")) event.preventDefault();
  });
})();
