// Toasts: success leaves after 6 s, money and failures stay until closed; at most three; Escape closes the newest. A
// response adds one by swapping into #toasts (hx-swap-oob="beforeend:#toasts").
(() => {
  const LEAVES_AFTER = 6000;
  const MOST = 3;
  const timed = new WeakSet();

  function region() {
    return document.getElementById("toasts");
  }

  function attend() {
    const toasts = [...region().querySelectorAll("[data-toast]")];
    // Done things make room first; a failure is only dropped for newer failures.
    const order = [...toasts.filter((toast) => toast.dataset.toast === "good"), ...toasts.filter((toast) => toast.dataset.toast !== "good")];
    order.slice(0, Math.max(0, toasts.length - MOST)).forEach((toast) => toast.remove());
    toasts.filter((toast) => toast.dataset.toast === "good" && !timed.has(toast)).forEach(leave);
  }

  function leave(toast) {
    timed.add(toast);
    const go = () => {
      if (toast.matches(":hover, :focus-within")) setTimeout(go, 1000);
      else toast.remove();
    };
    setTimeout(go, LEAVES_AFTER);
  }

  // What a script says, once for each mark, where it is seen; what is `about` one part of the page, not in another's.
  document.addEventListener("toast:say", ({ detail: { says, mark, about } }) => {
    document.querySelector(`[data-said="${mark}"]`)?.remove();
    const toast = document.getElementById("failed").content.firstElementChild.cloneNode(true);
    [toast.dataset.said, toast.querySelector("b").textContent] = [mark, says];
    const dialog = about ? about.closest("dialog") : document.querySelector("dialog:modal");
    dialog ? dialog.querySelector(".dialog__body").prepend(toast) : region().append(toast);
    toast.scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("click", (event) => {
    event.target.closest("[data-toast] [data-close]")?.closest("[data-toast]").remove();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.querySelector("dialog:modal, :popover-open")) return;
    region()?.querySelector("[data-toast]:last-of-type")?.remove();
  });
  document.addEventListener("DOMContentLoaded", () => {
    if (!region()) return;
    new MutationObserver(attend).observe(region(), { childList: true });
    attend();
  });
})();
