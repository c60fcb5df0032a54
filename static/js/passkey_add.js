// Makes a passkey: submitting form[data-passkey-add] asks the browser for one, with the options in the attribute, and
// then sends it with the form.
(() => {
  const NO_SUPPORT = "This browser cannot make passkeys. Use a newer one.";
  const EXISTS = "This device has a passkey for your account already.";
  const NOT_MADE = "No passkey was made. Try again.";

  function say(form, sentence) {
    const error = form.querySelector("[data-passkey-error]");
    error.querySelector("span").textContent = sentence;
    error.hidden = !sentence;
  }

  async function add(form) {
    const button = form.querySelector("[type=submit]");
    button.setAttribute("aria-busy", "true");
    say(form, "");
    try {
      const options = JSON.parse(form.dataset.passkeyAdd);
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      form.elements.credential.value = JSON.stringify(await navigator.credentials.create({ publicKey }));
      form.submit();
    } catch (error) {
      button.removeAttribute("aria-busy");
      say(form, error.name === "InvalidStateError" ? EXISTS : NOT_MADE);
    }
  }

  // Before double_submit.js, for which the form is not submitted yet.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-passkey-add]")) return;
    event.preventDefault();
    if (window.PublicKeyCredential?.parseCreationOptionsFromJSON) add(form);
    else say(form, NO_SUPPORT);
  }, { capture: true });
})();
