// The buttons beside a number: [data-step] changes it by so much, within its limits; [data-number] sets it.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-stepper] :is([data-step], [data-number])");
  const input = button?.closest("[data-stepper]").querySelector("input");
  if (!input) return;
  if (button.dataset.number) {
    input.value = button.dataset.number;
    input.focus(); // the button is removed by the answer
  } else if (Number(button.dataset.step) > 0) input.stepUp();
  else input.stepDown();
  input.dispatchEvent(new Event("change", { bubbles: true }));
});
