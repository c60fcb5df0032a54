// Turns the topics of stream messages into events on the body: "ledger charge" becomes reelroom:ledger and
// reelroom:charge. A fragment that shows such data refreshes itself for its own reader:
// <section id="…" hx-get="…" hx-trigger="reelroom:ledger from:body delay:50ms" hx-swap="outerHTML">.
// The topics of a second are dispatched together, the first at once, and `delay` merges them: one request a second and
// part. A delay above that second would begin anew with each, and a part that is not replaced has hx-sync="this:queue last".
(() => {
  const EVERY = 1000; // ms
  const TOPICS = ["job", "draft", "charge", "account", "token", "ledger", "top_up", "budget", "alert", "service", "preset", "idea", "batch",
    "storyboard", "audit", "member", "instance"];
  const pending = new Set();
  const outdated = new Set(); // what a part asked for may be older than these, and takes its place, with it what it waits for
  let isResting = false;

  const isRequested = (topic) =>
    document.querySelector(`.htmx-request[hx-trigger*="reelroom:${topic}"]:not([hx-sync*="queue"])`) !== null;

  function dispatch() {
    const topics = new Set([...[...outdated].filter((topic) => !isRequested(topic)), ...pending]);
    topics.forEach((topic) => outdated.delete(topic));
    [...topics].filter(isRequested).forEach((topic) => outdated.add(topic));
    pending.clear();
    isResting = topics.size + outdated.size > 0;
    if (isResting) setTimeout(dispatch, EVERY);
    topics.forEach((topic) => document.body.dispatchEvent(new CustomEvent(`reelroom:${topic}`)));
  }

  function touch(topics) {
    topics.forEach((topic) => pending.add(topic));
    if (!isResting) dispatch();
  }

  document.addEventListener("live:touched", (event) => touch(event.detail.split(" ")));
  // Something was missed, or the stream is gone: nobody knows what changed.
  document.body.addEventListener("poll", () => touch(TOPICS));
})();
