// The buttons [data-step] beside a number: each press changes it by so much, within its limits.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-stepper] [data-step]");
  const input = button?.closest("[data-stepper]").querySelector("input");
  if (!input) return;
  if (Number(button.dataset.step) > 0) input.stepUp();
  else input.stepDown();
  input.dispatchEvent(new Event("change", { bubbles: true }));
});
