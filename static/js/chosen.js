// A voice that is chosen while the list is searched: the answer was drawn for the one before, and would choose that again.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { target, requestConfig } = detail;
  const chosen = target.id === "voices" && target.querySelector(":checked")?.value;
  if (!chosen || chosen === requestConfig.formData.get("voice_id")) return;
  detail.shouldSwap = false;
  htmx.trigger(requestConfig.elt, "change"); // it is asked again, with the new one
});
