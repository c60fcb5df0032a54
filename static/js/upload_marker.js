// A page that was closed while a file was on its way says so when it is opened again. The key of the form is kept until
// the answer comes; [data-received-uploads] has the keys of the files that arrived. Another tab that still sends the file
// holds a lock of that name.
(() => {
  const LOST = "Your picture or film was not added: the page was closed before it was sent. Nothing was charged. Choose it again.";
  const shown = document.querySelector("[data-received-uploads]");
  const mark = `upload ${location.pathname}`;
  const answered = new Map(); // what ends the lock of a form's key

  function begin({ detail: { elt, requestConfig } }) {
    const key = elt.matches("form[data-media-drop]") && requestConfig.verb === "post" && elt.elements.nonce.value;
    if (!key) return;
    localStorage.setItem(mark, key);
    navigator.locks?.request(key, () => new Promise((end) => answered.set(elt, end)));
  }

  function end({ detail: { elt } }) { // with any answer, and when none came: the page is still there to say so
    if (!elt.matches("form[data-media-drop]")) return;
    localStorage.removeItem(mark);
    answered.get(elt)?.();
  }

  function tell() {
    if (!shown.dataset.receivedUploads.split(" ").includes(localStorage.getItem(mark))) {
      document.dispatchEvent(new CustomEvent("toast:say", { detail: { says: LOST, mark: "upload" } }));
    }
    localStorage.removeItem(mark);
  }

  document.addEventListener("htmx:beforeRequest", begin);
  document.addEventListener("htmx:afterRequest", end);
  const key = shown && localStorage.getItem(mark);
  if (!key) return;
  if (navigator.locks) navigator.locks.request(key, { ifAvailable: true }, (lock) => lock && tell());
  else tell();
})();
