// Marks what a person asked for by a press or a key. A page also asks by itself, for news, and that does not keep a
// session from ending (dashboard/shared/middleware.py).
document.addEventListener("htmx:configRequest", ({ detail: { headers, triggeringEvent } }) => {
  if (triggeringEvent?.isTrusted) headers["X-Used"] = "1";
});
