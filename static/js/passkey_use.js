// Signs in with a passkey: the button of form[data-passkey-use] asks the browser for one and submits it. The options are
// the value of the attribute, else fetched from the form's address. The form is shown where the browser can do it.
(() => {
  const NOT_USED = "No passkey was used. Try again, or sign in in another way.";

  async function fetchOptions(form) {
    if (form.dataset.passkeyUse) return JSON.parse(form.dataset.passkeyUse);
    const response = await fetch(form.action, { headers: { Accept: "application/json" } });
    return (await response.json()).request_options.publicKey;
  }

  function say(form, sentence) {
    const error = form.querySelector("[data-passkey-error]");
    error.querySelector("span").textContent = sentence;
    error.hidden = !sentence;
  }

  async function use(form) {
    const button = form.querySelector("[type=submit]");
    button.setAttribute("aria-busy", "true");
    say(form, "");
    try {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await fetchOptions(form));
      form.elements.credential.value = JSON.stringify(await navigator.credentials.get({ publicKey }));
      form.submit();
    } catch {
      button.removeAttribute("aria-busy");
      say(form, NOT_USED);
    }
  }

  // Before double_submit.js, for which the form is not submitted yet.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-passkey-use]")) return;
    event.preventDefault();
    use(event.target);
  }, { capture: true });
  const canUse = window.PublicKeyCredential?.parseRequestOptionsFromJSON;
  if (canUse) document.querySelectorAll("form[data-passkey-use]").forEach((form) => (form.hidden = false));
})();
