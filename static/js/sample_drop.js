// Sends the chosen or dropped files of a form[data-sample-drop] at once; one that is too large is named and not sent.
(() => {
  const MEGABYTE = 1024 ** 2;
  const formOf = (event) => event.target.closest?.("[data-sample-drop]");

  function complain(text) {
    const place = document.getElementById("sample-problem");
    const line = Object.assign(document.createElement("p"), { className: "field__error", textContent: text });
    place.replaceChildren(line);
    place.hidden = false;
  }

  function send(form) {
    const files = [...form.elements.samples.files];
    const most = Number(form.dataset.sampleDrop);
    const large = files.find((file) => file.size > most);
    if (large) {
      complain(`“${large.name}” has ${Math.round(large.size / MEGABYTE)} MB. At most ${most / MEGABYTE} MB are allowed.`);
      form.elements.samples.value = "";
    } else if (files.length) {
      htmx.trigger(form, "send");
    }
  }

  document.addEventListener("sample:problem", ({ detail }) => complain(detail));
  document.addEventListener("change", (event) => event.target.name === "samples" && send(event.target.form));
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      const form = formOf(event);
      if (!form || form.elements.samples.disabled) return;
      event.preventDefault();
      form.toggleAttribute("data-over", name === "dragover");
      if (name !== "drop" || !event.dataTransfer.files.length) return;
      form.elements.samples.files = event.dataTransfer.files;
      send(form);
    });
  }
  document.addEventListener("htmx:xhr:progress", (event) => {
    const bar = formOf(event)?.querySelector("[data-sent]");
    if (!bar || !event.detail.lengthComputable) return;
    bar.hidden = false;
    bar.value = Math.round((100 * event.detail.loaded) / event.detail.total);
  });
})();
