// Drops answers that come too late: what others changed, if another scene was picked meanwhile (it is asked for again), and
// a picked scene, if something was typed since.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { elt, path, parameters } = event.detail.requestConfig;
  const known = document.querySelector("#editor-known [name=scene]");
  if (elt.matches(".scene") && document.getElementById("scene-form")?.dataset.unsaved) event.preventDefault();
  if (!path.includes("part=live") || !known || known.value === parameters.scene) return;
  event.preventDefault();
  htmx.trigger(document.body, "reelroom:storyboard");
});
