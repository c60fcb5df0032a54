// The menus and names of rows: a menu closes at a press on an item or beside it, and at Escape, and leaves the focus on its
// button; Escape gives up a new name, and the focus returns to the row when its name is text again.
(() => {
  let renamed = "";

  function closeMenus(except) {
    for (const menu of document.querySelectorAll("details.more[open]")) if (menu !== except) menu.open = false;
  }

  document.addEventListener("click", ({ target }) => {
    const item = target.closest("details.more .menu__item");
    item?.closest("details").querySelector("summary").focus();
    closeMenus(item ? null : target.closest("details.more"));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.querySelector("dialog:modal")) return;
    event.target.closest("form.rename")?.querySelector("[data-escape]").click();
    const menu = event.target.closest("details.more[open]");
    closeMenus();
    menu?.querySelector("summary").focus();
  });
  document.addEventListener("htmx:beforeRequest", ({ target }) => {
    renamed = target.closest("form.rename")?.id.replace("rename-", "name-") ?? "";
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (renamed && document.activeElement === document.body) document.getElementById(renamed)?.focus();
  });
})();
