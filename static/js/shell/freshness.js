// Counts the seconds of live elements: "Checked 4 s ago, next check in 9 s" with its dial, and [data-elapsed].
// [data-until] and [data-from] show an element only before, or only after, that many seconds.
// The server renders the seconds at the time of the response; this script only adds what has passed since.
(() => {
  const seen = new WeakMap();

  function words(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const [minutes, rest] = [Math.floor(whole / 60), whole % 60];
    if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
    if (!minutes) return `${rest} s`;
    return rest ? `${minutes} min ${String(rest).padStart(2, "0")} s` : `${minutes} min`;
  }

  function passed(element) {
    if (!seen.has(element)) seen.set(element, performance.now());
    return (performance.now() - seen.get(element)) / 1000;
  }

  function say(element, text) {
    if (element && element.textContent !== text) element.textContent = text;
  }

  function count(fresh) {
    const gone = passed(fresh);
    const since = Number(fresh.dataset.since) + gone;
    say(fresh.querySelector('[data-count="since"]'), words(since));
    if (fresh.dataset.next === undefined) return;
    const left = Number(fresh.dataset.next) - gone;
    say(fresh.querySelector('[data-count="next"]'), left > 0 ? `next check in ${words(left)}` : "checking now");
    const share = Math.min(100, Math.round((100 * since) / Math.max(1, since + Math.max(0, left))));
    fresh.querySelector("circle + circle")?.setAttribute("stroke-dasharray", `${share} 100`);
  }

  function tick() {
    document.querySelectorAll(".fresh[data-since]").forEach(count);
    document.querySelectorAll("[data-elapsed]").forEach((element) => {
      say(element, words(Number(element.dataset.elapsed) + passed(element)));
    });
    document.querySelectorAll("[data-until]").forEach((element) => {
      element.hidden = passed(element) >= Number(element.dataset.until);
    });
    document.querySelectorAll("[data-from]").forEach((element) => {
      element.hidden = passed(element) < Number(element.dataset.from);
    });
  }

  setInterval(tick, 1000);
  document.addEventListener("htmx:load", tick);
})();
