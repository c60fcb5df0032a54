// Shows a date as "3 Nov 2026" over the browser's date field, which appears while it is edited. An empty field shows its
// [data-none]. Without this script the browser's format stays.
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
