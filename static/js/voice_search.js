// A voice chosen while the list is being searched: the response was rendered for the previous choice and would restore it.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { target, requestConfig } = detail;
  const chosen = target.id === "voices" && target.querySelector(":checked")?.value;
  if (!chosen || chosen === requestConfig.formData.get("voice_id")) return;
  detail.shouldSwap = false;
  htmx.trigger(requestConfig.elt, "change"); // it is asked again, with the new one
});
