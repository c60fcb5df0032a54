// A day in our own form, "3 Nov 2026", over the browser's, which shows while the field is written in. An empty
// one says what it stands for [data-none]. Without this the browser's form stays.
(() => {
  const FORM = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

  function cover(field) {
    const said = field.nextElementSibling;
    said.hidden = field.validity.badInput;
    said.textContent = field.value ? FORM.format(field.valueAsDate).replace("Sept", "Sep") : field.dataset.none;
    said.classList.toggle("faint", !field.value);
  }

  function all() {
    document.querySelectorAll("input[data-none]").forEach(cover);
  }

  for (const kind of ["input", "change", "focusout"]) {
    document.addEventListener(kind, (event) => event.target.matches("input[data-none]") && cover(event.target));
  }
  document.addEventListener("reset", () => setTimeout(all));
  document.addEventListener("htmx:load", all);
  all();
})();
