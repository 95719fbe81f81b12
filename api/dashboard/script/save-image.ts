/** What a drawing takes from the page's styles, and a file has to say by itself. */
const PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "display",
  "font-family",
  "font-size",
  "vector-effect",
  "paint-order",
];
const MARGIN = 48;

/** Saves the chart beside a button of `data-image` as it is seen, as a file of its own. */
export function saveImages(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-image]")) {
    const plot = button.closest("figure")?.querySelector<SVGSVGElement>("svg.plot");
    if (!plot) continue;
    button.hidden = false;
    button.addEventListener("click", () => download(imageOf(plot), `${document.title}.svg`));
  }
}

function imageOf(plot: SVGSVGElement): string {
  const { width, height } = plot.getBoundingClientRect();
  const copy = plot.cloneNode(true) as SVGSVGElement;
  const drawn = [...plot.querySelectorAll("*")];
  for (const [index, element] of [...copy.querySelectorAll("*")].entries()) {
    const style = getComputedStyle(drawn[index] as Element);
    for (const name of PROPERTIES) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  }
  const ground = document.createElementNS(copy.namespaceURI, "rect");
  const box = { x: -MARGIN, y: -MARGIN / 2, width: width + 2 * MARGIN, height: height + MARGIN };
  const panel = plot.closest(".panel") ?? document.body;
  for (const [name, value] of Object.entries({ ...box, fill: getComputedStyle(panel).backgroundColor }))
    ground.setAttribute(name, String(value));
  // Parts of the width are parts of this box.
  const frame = document.createElementNS(copy.namespaceURI, "svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("overflow", "visible");
  frame.setAttribute("viewBox", Object.values(box).join(" "));
  frame.setAttribute("width", String(box.width));
  frame.setAttribute("height", String(box.height));
  frame.append(ground, copy);
  return new XMLSerializer().serializeToString(frame);
}

function download(text: string, name: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
