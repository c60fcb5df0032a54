// A link that is told as a button (role="button") is pressed by Space as well, as buttons are.
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || event.repeat || !event.target.matches("a[role=button]")) return;
  event.preventDefault(); // else the page scrolls
  event.target.click();
});
