// Reads the event stream while this window does so for all (stream_election.js). When they show other videos, which are polled
// sooner, another stream that names them is opened before the former one is closed, so that nothing is missed.
(() => {
  const RETRY = 8000 + 4000 * Math.random(); // ms; browsers that lost it together do not return together
  const OVERLAP = 2000; // ms; what was sent to the former stream arrives
  // s from a message's id to the latest time of its change. Service news is repeated; that of all teams has no id of its own.
  const LATEST = { service: -Infinity, instance: Infinity };
  const node = document.getElementById("live");
  if (!node || !window.EventSource) return;
  let [sources, shown, changed, waiting] = [[], null, Infinity, null];
  const send = (kind, more) => node.dispatchEvent(new CustomEvent("stream:send", { detail: { kind, ...more } }));
  const isServed = (but) => sources.some((source) => source !== but && source.readyState === EventSource.OPEN);

  function close(closed) {
    closed.forEach((source) => source.close());
    sources = sources.filter((source) => source.readyState !== EventSource.CLOSED);
    if (!sources.length) changed = Infinity;
  }

  function open(videos) {
    clearTimeout(waiting);
    if (sources.length && videos === shown) return;
    const former = sources;
    const source = new EventSource(`${node.dataset.live}&since=${node.dataset.since}&videos=${videos}`);
    [sources, shown] = [[...former, source], videos];
    source.addEventListener("hello", ({ data, lastEventId: id }) => {
      setTimeout(close, OVERLAP, former);
      if (node.dataset.state === "open" && isServed(source)) return;
      changed = data === "stale" ? Number(id) + 2 : Number(node.dataset.since);
      send("open", { unchanged: changed, id });
    });
    const pass = (kind) => ({ data, lastEventId: id }) => {
      changed = Math.max(changed, Number(id) + (LATEST[data] ?? 2));
      send(kind, { data, id });
    };
    for (const kind of ["news", "touched", "refetch"]) source.addEventListener(kind, pass(kind));
    source.addEventListener("error", () => {
      close([]); // a refused one; the browser tries others again
      if (!sources.includes(source)) shown = null;
      if (!isServed(source)) send("lost");
      if (!sources.length) waiting = setTimeout(open, RETRY, videos);
    });
  }

  node.addEventListener("stream:open", ({ detail }) => open(detail));
  node.addEventListener("stream:close", () => (clearTimeout(waiting), close(sources)));
  node.addEventListener("stream:joined", ({ detail: to }) => {
    if (node.dataset.state === "open") send("open", { unchanged: changed, id: node.dataset.since, to });
  });
})();
