// Turns the topics of a stream message into events on the body: "ledger charge" becomes reelroom:ledger and
// reelroom:charge. A fragment that shows such data refreshes itself for its own reader:
// <section id="…" hx-get="…" hx-trigger="reelroom:ledger from:body delay:50ms" hx-swap="outerHTML">.
// `delay` merges several topics into one request. At most one event per topic and second, the first at once.
(() => {
  const EVERY = 1000;
  const TOPICS = ["job", "draft", "charge", "account", "token", "ledger", "top_up", "budget", "alert", "service", "preset", "idea",
    "storyboard", "audit", "member", "instance"];
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
