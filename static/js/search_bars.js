// Moves the bars of running searches each second: the server says how many seconds have passed and where the bar ends.
(() => {
  const seen = new WeakMap();

  function move(bar) {
    if (!seen.has(bar)) seen.set(bar, performance.now());
    const elapsed = Number(bar.dataset.barSince) + (performance.now() - seen.get(bar)) / 1000;
    const share = Math.min(100, (100 * elapsed) / Number(bar.dataset.barEnd));
    bar.querySelector(".timebar__fill").setAttribute("width", `${share.toFixed(1)}%`);
  }

  setInterval(() => document.querySelectorAll("[data-bar-since]").forEach(move), 1000);
})();
