// One visible window reads the event stream for all windows of a browser, which allows six connections to a host on HTTP/1.1. It
// holds a lock, which the next one gets when it is hidden, left or crashes. Lock and channel are named by the stream's address,
// which names team and user; a lock for each video tells which ones are shown. Without locks (http) each window reads its own.
(() => {
  const EVERY = 3000; // ms; a window that crashed says nothing
  const node = document.getElementById("live");
  if (!node || !window.EventSource) return;
  const { live: name, video } = node.dataset;
  const [me, isShared] = [Math.random(), navigator.locks && window.BroadcastChannel];
  let [channel, leaving, leads] = [];
  const tell = (event, detail) => node.dispatchEvent(new CustomEvent(event, { detail }));

  async function update() {
    const held = isShared ? (await navigator.locks.query()).held : [];
    const videos = new Set([video, ...held.map((lock) => lock.name.split(`${name} `)[1])].filter(Boolean));
    if (leads) tell("stream:open", [...videos].sort().join(","));
  }

  function receive({ data: message }) {
    if (message.kind !== "joined") return (message.to ?? me) === me && tell("stream:message", message);
    if (leads) tell("stream:joined", message.me);
  }

  function join() {
    if (leaving || document.hidden) return;
    const { signal } = (leaving = new AbortController());
    const left = new Promise((resolve) => signal.addEventListener("abort", resolve));
    const hold = (lock, mode, work) => navigator.locks.request(lock, { mode, signal }, work).catch(() => {}); // it left before
    const lead = () => ((leads = true), update(), left);
    if (!isShared) return lead();
    channel = new BroadcastChannel(name);
    channel.onmessage = receive;
    if (video) hold(`${name} ${video}`, "shared", () => left);
    hold(name, "exclusive", lead);
    channel.postMessage({ kind: "joined", me });
  }

  function leave() {
    leaving?.abort();
    channel?.close();
    [channel, leaving, leads] = [];
    tell("stream:close");
  }

  node.addEventListener("stream:send", ({ detail }) => (channel?.postMessage(detail), receive({ data: detail })));
  setInterval(() => leads && update(), EVERY);
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : join()));
  for (const event of ["DOMContentLoaded", "pageshow"]) window.addEventListener(event, join);
  window.addEventListener("pagehide", leave);
})();
