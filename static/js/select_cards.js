// Counts the selected cards in their bar. The ids are sent by the form itself, also without this.
(() => {
  function count() {
    const bar = document.querySelector("[data-selection-count]");
    const number = document.querySelectorAll('input[form="selection"]:checked').length;
    const text = number ? `${number} selected` : "Select videos";
    if (bar && bar.textContent !== text) bar.textContent = text;
  }
  document.addEventListener("change", count);
  document.addEventListener("DOMContentLoaded", count);
  document.addEventListener("htmx:load", count);
})();
