// One visible window reads the event stream for all windows of a browser, which allows six connections to a host on HTTP/1.1. It
// holds a lock, which the next one gets when it is hidden, left or crashes. Lock and channel are named by the stream's address,
// which names team and user; a lock for each video tells which ones are shown. Without locks (http) each window reads its own.
(() => {
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
    if (message.kind !== "windows") return (message.to ?? me) === me && tell("stream:message", message);
    setTimeout(update, 1000); // a window that goes to another page leaves and joins
    if (leads && message.joined) tell("stream:joined", message.joined);
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
    channel.postMessage({ kind: "windows", joined: me });
  }

  function leave() {
    leaving?.abort();
    channel?.postMessage({ kind: "windows" });
    channel?.close();
    [channel, leaving, leads] = [];
    tell("stream:close");
  }

  node.addEventListener("stream:send", ({ detail }) => (channel?.postMessage(detail), receive({ data: detail })));
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : join()));
  for (const event of ["DOMContentLoaded", "pageshow"]) window.addEventListener(event, join);
  window.addEventListener("pagehide", leave);
})();
