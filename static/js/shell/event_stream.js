// The event stream of a page. Dispatches htmx:sseOpen and htmx:sseError (offline.js shows the banner and polls) and
// passes bundles to live_updates.js. A hidden tab closes its stream: browsers allow six connections to a host.
(() => {
  const RETRY = 8000 + 4000 * Math.random(); // pages that lost it together do not return together
  const node = document.getElementById("live");
  let source = null;
  let since = node?.dataset.since;
  let waiting = null;

  function tell(name, detail) {
    node.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }

  const refetch = () => document.body.dispatchEvent(new CustomEvent("poll"));

  function open() {
    clearTimeout(waiting);
    if (source || document.hidden) return;
    source = new EventSource(`${node.dataset.live}&since=${since}`);
    source.addEventListener("hello", (event) => {
      since = event.lastEventId;
      node.dataset.state = "open";
      tell("htmx:sseOpen");
      if (event.data === "stale") refetch();
    });
    source.addEventListener("news", (event) => tell("live:news", event.data));
    source.addEventListener("touched", (event) => {
      since = event.lastEventId; // the last event of a message has its id
      tell("live:touched", event.data);
    });
    source.addEventListener("refetch", refetch);
    source.addEventListener("error", () => {
      node.dataset.state = "gone";
      tell("htmx:sseError");
      if (source?.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
      close();
      waiting = setTimeout(open, RETRY);
    });
  }

  function close() {
    source?.close();
    source = null;
  }

  if (!node || !window.EventSource) return;
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
})();
