// A link with role="button" is activated by Space as well, as a button is.
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || event.repeat || !event.target.matches("a[role=button]")) return;
  event.preventDefault(); // else the page scrolls
  event.target.click();
});
