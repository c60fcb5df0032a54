// Shows top-up units as credits while typing: input[data-units] holds units of data-per credits, its output the result.
// Typing a number clears the presets beside it; choosing a preset clears the number.
(() => {
  function say(input) {
    const output = document.getElementById(input.dataset.units);
    if (!output) return;
    const text = input.value.trim();
    const isNumber = /^(\d{1,6}|\d{1,3}[,\s]\d{3})$/.test(text);
    const credits = isNumber ? Number(text.replace(/[,\s]/, "")) * Number(input.dataset.per) : 0;
    output.textContent = credits ? `units, that is ${credits.toLocaleString("en")} credits` : `units of ${input.dataset.per} credits`;
  }

  function presets(input) {
    return input.closest("fieldset").querySelectorAll("input[type=radio]");
  }

  document.addEventListener("input", (event) => {
    const input = event.target;
    if (input.matches("input[data-units]")) {
      say(input);
      if (input.value.trim()) presets(input).forEach((radio) => (radio.checked = false));
    } else if (input.matches(".unit input[type=radio]")) {
      const typed = input.closest("fieldset").querySelector("input[data-units]");
      if (!typed) return;
      typed.value = "";
      say(typed);
    }
  });

  function sayAll(root) {
    root.querySelectorAll?.("input[data-units]").forEach(say);
  }
  document.addEventListener("DOMContentLoaded", () => sayAll(document));
  document.addEventListener("htmx:load", (event) => sayAll(event.target));
})();
