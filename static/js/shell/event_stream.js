// What the event stream says, as events of the page: htmx:sseOpen and htmx:sseError (offline.js shows the banner and polls),
// live:news (live_updates.js), live:touched (topic_events.js). One window of the browser reads it for all of them
// (stream_election.js, stream_source.js).
(() => {
  const node = document.getElementById("live");
  if (!node) return;
  const tell = (name, detail) => node.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  const refetch = () => document.body.dispatchEvent(new CustomEvent("poll"));

  const HANDLERS = {
    // Nothing has changed since `unchanged`, in seconds since 1970. This window knows what there was before data-since.
    open({ unchanged }) {
      node.dataset.state = "open";
      tell("htmx:sseOpen");
      if (unchanged > Number(node.dataset.since)) refetch();
    },
    lost() {
      node.dataset.state = "gone";
      tell("htmx:sseError");
    },
    news: ({ data }) => tell("live:news", data),
    touched: ({ data }) => tell("live:touched", data),
    refetch,
  };

  node.addEventListener("stream:message", ({ detail }) => {
    HANDLERS[detail.kind]?.(detail);
    node.dataset.since = detail.id ?? node.dataset.since;
  });
})();
