// Signs in or confirms with a passkey: a press on the button of form[data-passkey-use], or on [data-passkey-confirm] in any
// form, asks the browser for one and sends it with the form. The options are in data-passkey-use, else they are fetched.
// Both are shown where the browser can do it.
(() => {
  const NOT_USED = "No passkey was used. Try again, or choose another way.";

  async function fetchOptions(form, button) {
    if (form.dataset.passkeyUse) return JSON.parse(form.dataset.passkeyUse);
    const response = await fetch(button.dataset.passkeyConfirm ?? form.action, { headers: { Accept: "application/json" } });
    return (await response.json()).request_options.publicKey;
  }

  function say(form, sentence) {
    const error = form.querySelector("[data-passkey-error]");
    error.querySelector("span").textContent = sentence;
    error.hidden = !sentence;
  }

  async function use(form, button) {
    button.setAttribute("aria-busy", "true");
    say(form, "");
    try {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await fetchOptions(form, button));
      form.elements.credential.value = JSON.stringify(await navigator.credentials.get({ publicKey }));
      delete form.dataset.typed; // it is sent now
      form.submit();
    } catch {
      button.removeAttribute("aria-busy");
      say(form, NOT_USED);
    }
  }

  function show(part) {
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return;
    part.querySelectorAll("form[data-passkey-use], [data-passkey-way]").forEach((way) => (way.hidden = false));
  }

  // Before double_submit.js, for which the form is not submitted yet.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-passkey-use]")) return;
    event.preventDefault();
    use(event.target, event.target.querySelector("[type=submit]"));
  }, { capture: true });
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-passkey-confirm]");
    if (button) use(button.form, button);
  });
  document.addEventListener("htmx:load", ({ target }) => show(target));
  show(document);
})();
