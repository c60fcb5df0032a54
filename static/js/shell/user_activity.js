// Marks requests that a person caused by a press or a key. Requests that a page makes by itself do not keep a session
// alive (dashboard/shared/middleware.py).
document.addEventListener("htmx:configRequest", ({ detail: { headers, triggeringEvent } }) => {
  if (triggeringEvent?.isTrusted) headers["X-Used"] = "1";
});
