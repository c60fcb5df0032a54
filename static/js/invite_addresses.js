// Counts the addresses in textarea[data-addresses] while typing: "3 of 20" at the end of its label, and how many invitations
// the button [data-sends] sends. data-addresses is the maximum; the server checks each address as well, and reads names.
(() => {
  const LOOKS_RIGHT = /^[!-?A-~]+@[^\s@]+\.[^\s@.]+$/;

  function count(area) {
    const words = new Set(area.value.toLowerCase().split(/[\s,;<>"]+/).filter(Boolean));
    const right = [...words].filter((word) => LOOKS_RIGHT.test(word)).length;
    const label = document.getElementById(`${area.id}_limit`);
    if (label) label.textContent = `${right} of ${area.dataset.addresses}`;
    const button = area.form.querySelector("[data-sends] > span");
    const sent = Math.min(right, area.dataset.addresses);
    if (button) button.textContent = sent > 1 ? `Send ${sent} invitations` : "Send invitation";
  }

  const countAll = (root) => root.querySelectorAll?.("textarea[data-addresses]").forEach(count);

  document.addEventListener("input", ({ target }) => {
    if (target.matches("textarea[data-addresses]")) count(target);
  });
  document.addEventListener("DOMContentLoaded", () => countAll(document));
  document.addEventListener("htmx:load", ({ target }) => countAll(target));
})();
