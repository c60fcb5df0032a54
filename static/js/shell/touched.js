// Turns what the stream says was touched into events on the body, one a topic: "ledger charge" becomes
// reelroom:ledger and reelroom:charge. A part that shows such things fetches itself then, for its own reader:
// <section id="…" hx-get="…" hx-trigger="reelroom:ledger from:body delay:50ms" hx-swap="outerHTML">.
// `delay` makes one request of several topics at once. At most one event a topic and second, the first at once.
(() => {
  const EVERY = 1000;
  const TOPICS = ["job", "charge", "account", "token", "ledger", "top_up", "budget", "alert", "service"];
  const resting = new Map(); // topic: whether it was touched again meanwhile

  function touch(topic) {
    if (resting.has(topic)) {
      resting.set(topic, true);
      return;
    }
    // What a part has asked for already may be older than this, and takes its place, with it what it waits for.
    resting.set(topic, Boolean(document.querySelector(`.htmx-request[hx-trigger*="reelroom:${topic}"]`)));
    setTimeout(() => rested(topic), EVERY);
    document.body.dispatchEvent(new CustomEvent(`reelroom:${topic}`));
  }

  function rested(topic) {
    const again = resting.get(topic);
    resting.delete(topic);
    if (again) touch(topic);
  }

  document.addEventListener("live:touched", (event) => event.detail.split(" ").forEach(touch));
  // Something was missed, or the stream is gone: nobody knows what changed.
  document.body.addEventListener("poll", () => TOPICS.forEach(touch));
})();
