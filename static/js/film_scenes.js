// The scenes of a film: the one that plays is outlined and kept in view, a click plays from it, comma and full stop step
// to the scene before and after. Without this script a scene opens the film at its place.
(() => {
  const STEPS = { ",": -1, ".": 1 };
  const SLACK = 0.05; // s: a film that was set to a time may report a little less

  const film = () => document.querySelector("[data-player] video");
  const scenes = () => [...document.querySelectorAll("[data-film-scenes] [data-start]")];
  const start = (scene) => Number(scene.dataset.start);
  const playing = () => scenes().findLastIndex((scene) => start(scene) <= film().currentTime + SLACK);

  function mark(elements, current) {
    for (const element of elements) {
      if (element === current) element.setAttribute("aria-current", "true");
      else element.removeAttribute("aria-current");
    }
  }

  function draw() {
    const [all, current] = [scenes(), scenes()[playing()]];
    if (!current || current.hasAttribute("aria-current")) return;
    const nodes = [...document.querySelectorAll(".node[data-scene]")];
    mark(all, current);
    mark(nodes, nodes.find((node) => node.dataset.scene === current.dataset.number));
    show(current.parentElement, current.closest("[data-film-scenes]"));
  }

  function show(item, strip) {
    const left = item.offsetLeft - strip.offsetLeft;
    const isSeen = left >= strip.scrollLeft && left + item.offsetWidth <= strip.scrollLeft + strip.clientWidth;
    if (!isSeen) strip.scrollTo({ left: left - item.offsetWidth });
  }

  for (const name of ["timeupdate", "seeking", "loadedmetadata"]) document.addEventListener(name, ({ target }) => target === film() && draw(), true);
  document.addEventListener("click", (event) => {
    const scene = event.target.closest?.("[data-film-scenes] [data-start]");
    if (!scene || !film() || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    film().currentTime = start(scene);
    film().play().catch(() => {});
  });
  document.addEventListener("keydown", (event) => {
    const isHere = event.target.closest?.("[data-player], [data-film-scenes]");
    if (!(event.key in STEPS) || !isHere || !film() || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = scenes()[Math.max(0, playing() + STEPS[event.key])];
    if (next) film().currentTime = start(next);
  });
})();
