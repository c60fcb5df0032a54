// Draws a chart with its title and legend at a press on [data-chart-file] in the .chart__foot after it; chart_file.js saves it.
// Always in the light theme; opaque and in sRGB, because not every program reads oklch() or an alpha.
(() => {
  const COPIED = "fill stroke stroke-width stroke-dasharray stroke-linejoin stroke-linecap vector-effect opacity font-size font-weight";
  const [LEFT, RIGHT, LEGEND_TOP, BOTTOM] = [64, 32, 48, 40];
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const set = (element, attributes) => (Object.entries(attributes).forEach((pair) => element.setAttribute(...pair)), element);

  const make = (name, attributes, textContent = "") =>
    set(Object.assign(document.createElementNS("http://www.w3.org/2000/svg", name), { textContent }), attributes);
  function onWhite(colour) {
    for (const fillStyle of ["white", colour]) Object.assign(pen, { fillStyle }).fillRect(0, 0, 1, 1);
    return `rgb(${pen.getImageData(0, 0, 1, 1).data.slice(0, 3).join(", ")})`;
  }
  function paint(element, clone = element.cloneNode(true)) {
    const [style, children] = [getComputedStyle(element), [...clone.children]]; // a copy: some are removed
    [...element.children].forEach((child, index) => paint(child, children[index]));
    if (style.display === "none" || element.matches(".day")) clone.remove();
    for (const name of ["class", "id", "style", "tabindex", "aria-describedby"]) clone.removeAttribute(name);
    const looks = COPIED.split(" ").map((name) => [name, style.getPropertyValue(name)]);
    return set(clone, Object.fromEntries(looks.map(([name, value]) => [name, /^(rgb|okl|color)/.test(value) ? onWhite(value) : value])));
  }
  function legendItem(item, origin) {
    const [key, { x, y, width, height }] = [item.firstElementChild, item.firstElementChild.getBoundingClientRect()];
    const place = { x: x - origin.x + RIGHT, y: y - origin.y + LEGEND_TOP, width, height };
    const { backgroundColor, backgroundImage, color } = getComputedStyle(key);
    const fills = backgroundImage === "none" ? [onWhite(backgroundColor)] : [onWhite(color), "url(#hatch)"];
    const shapes = key.matches("svg") ? [paint(key)] : fills.map((fill) => make("rect", { fill, rx: 3 }));
    const text = { x: place.x + width + 6, y: place.y + height / 2 + 4, "font-size": 12 };
    return [...shapes.map((shape) => set(shape, place)), make("text", text, item.textContent.trim())];
  }
  document.addEventListener("click", ({ target }) => {
    const chart = target.closest?.("[data-chart-file]")?.closest(".chart__foot").previousElementSibling;
    if (!chart) return;
    const parts = [chart.querySelector("svg"), document.getElementById("hatch"), chart.closest(".card").querySelector(".legend")];
    const [drawing, hatch, legend] = parts;
    for (const part of parts) if (part) part.style.colorScheme = "light";
    const [{ width, height }, origin] = [drawing.getBoundingClientRect(), legend?.getBoundingClientRect()];
    const y = LEGEND_TOP + (origin ? origin.height + 16 : 0);
    const root = make("svg", { width: width + LEFT + RIGHT, height: y + height + BOTTOM, "font-family": getComputedStyle(chart).fontFamily });
    root.append(make("rect", { width: "100%", height: "100%", fill: "white" }), set(paint(hatch), { id: "hatch" }));
    const heading = `${chart.dataset.title}, ${new Date().toLocaleDateString("en-GB", { dateStyle: "medium" })}`;
    root.append(make("text", { x: RIGHT, y: 30, "font-size": 15, "font-weight": 600 }, heading));
    root.append(...[...(legend?.children ?? [])].flatMap((item) => legendItem(item, origin)));
    root.append(set(paint(drawing), { x: LEFT, y, width, height, overflow: "visible" }));
    for (const part of parts) part?.removeAttribute("style");
    target.dispatchEvent(new CustomEvent("chart:picture", { bubbles: true, detail: { root, title: chart.dataset.title } }));
  });
})();
