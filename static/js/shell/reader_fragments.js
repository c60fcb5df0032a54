// An empty element in a pushed fragment fetches what depends on the reader, such as the buttons of a video. It shows the
// old content until that arrives, so that buttons do not disappear and return with each update.
document.addEventListener("live:beforeSwap", ({ detail: { fresh } }) => {
  const PLACE = '[id][hx-trigger="load"]:empty';
  for (const place of [fresh, ...fresh.querySelectorAll(PLACE)]) {
    const old = place.matches(PLACE) && document.getElementById(place.id);
    if (old) place.append(...old.cloneNode(true).childNodes);
  }
});
