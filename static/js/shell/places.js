// A place in what is pushed fetches what is this reader's own, such as the buttons of a video. Until that comes it
// shows what stands there: else buttons would go and come back under the hand with each look.
document.addEventListener("live:beforeSwap", ({ detail: { fresh } }) => {
  const PLACE = '[id][hx-trigger="load"]:empty';
  for (const place of [fresh, ...fresh.querySelectorAll(PLACE)]) {
    const old = place.matches(PLACE) && document.getElementById(place.id);
    if (old) place.append(...old.cloneNode(true).childNodes);
  }
});
