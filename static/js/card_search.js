// Filters the cards of a long choice by name while typing; without it all cards are shown.
(() => {
  function attend(root) {
    root.querySelectorAll?.("[data-card-search]").forEach((field) => {
      field.hidden = false;
      field.addEventListener("input", (event) => {
        event.stopPropagation(); // a search is no change of the form
        filter(field);
      });
      field.addEventListener("change", (event) => event.stopPropagation());
      field.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
    });
  }

  function filter(field) {
    const words = field.value.trim().toLowerCase().split(/\s+/);
    let matches = 0;
    for (const card of document.getElementById(field.getAttribute("aria-controls")).children) {
      const name = card.textContent.toLowerCase();
      const isMatch = words.every((word) => name.includes(word));
      card.hidden = !isMatch && !card.querySelector("input:checked");
      matches += isMatch;
    }
    const count = field.parentElement.querySelector("[data-card-count]");
    count.textContent = matches ? `${matches} found` : "No results. Search for something else.";
    count.hidden = !field.value.trim();
  }

  document.addEventListener("DOMContentLoaded", () => attend(document));
  document.addEventListener("htmx:load", (event) => attend(event.target));
})();
