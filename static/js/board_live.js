// Drops an answer with what others changed if another scene was picked meanwhile, and asks again: it would put the panel
// back to the scene before.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { path, parameters } = event.detail.requestConfig;
  const known = document.querySelector("#editor-known [name=scene]");
  if (!path.includes("part=live") || !known || known.value === parameters.scene) return;
  event.preventDefault();
  htmx.trigger(document.body, "reelroom:storyboard");
});
