// A film that begins black, in a card that shows a frame of it (static/js/posters/card_pictures.js): shows a later frame.
(() => {
  const LATER_S = [1, 3, 8];
  const MAX_BLACK = 24; // of 255, in each colour of each pixel
  const SIZE = 8; // px: the frame is compared in small
  let sheet;

  function isBlack(film) {
    sheet ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    sheet.drawImage(film, 0, 0, SIZE, SIZE);
    const { data } = sheet.getImageData(0, 0, SIZE, SIZE);
    return data.every((value, at) => at % 4 === 3 || value <= MAX_BLACK);
  }

  function showLater({ target: film }) {
    // One that shows its last frame shows what a next scene begins with.
    if (!film.matches?.("video[data-still]:not([data-frame-only=last])")) return;
    const later = LATER_S.find((second) => second > film.currentTime && second < film.duration);
    if (later && isBlack(film)) film.currentTime = later;
  }

  // Events of media do not bubble.
  document.addEventListener("loadeddata", showLater, true);
  document.addEventListener("seeked", showLater, true);
})();
