// All addresses are relative to the page's, so that it works below any prefix; nothing is asked of another host.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const applyScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyScheme);
applyScheme();

const answer = await fetch("openapi.json");
const spec = await answer.json();
// The document says ".", its own folder. People want to see where that is.
spec.servers = [{ url: new URL(".", window.location.href).href.replace(/\/$/, "") }];

const HEADINGS = [
  [".info .title", "1"],
  [".opblock-tag", "2"],
  [".opblock h4, .opblock h5", "3"],
  ["section.models > h4, .modal-ux h3", "2"],
  [".modal-ux h4", "3"],
];

const REGIONS = [
  [".information-container", "About this API"],
  [".scheme-container", "Server and token"],
  [".filter-container", "Search"],
];

new MutationObserver(nameParts).observe(document.body, { childList: true, subtree: true });

window.SwaggerUIBundle({
  spec,
  dom_id: "#swagger-ui",
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [accessible],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  filter: true,
  persistAuthorization: true,
  validatorUrl: null,
  // Its colours are hard to read.
  syntaxHighlight: false,
  responseInterceptor: showLinesAsText,
});

/** Lines of JSON are no JSON document. As text they are shown as they are; the page knows a type by its header alone. */
function showLinesAsText(response) {
  const type = response.headers?.["content-type"] ?? "";
  if (type.includes("ndjson")) response.headers["content-type"] = "text/plain";
  return response;
}

/** Without the links in the buttons that open an operation: the address follows what is open all the same. */
function accessible({ React }) {
  const asText =
    () =>
    ({ text }) =>
      React.createElement("span", null, text);
  return { wrapComponents: { DeepLink: asText } };
}

/** Names what Swagger UI leaves without one, whenever it draws. */
function nameParts() {
  for (const select of document.querySelectorAll("select:not([aria-label])"))
    select.setAttribute("aria-label", select.id === "servers" ? "Server" : "Choose one");
  for (const button of document.querySelectorAll(".close-modal")) button.setAttribute("aria-label", "Close");
  for (const [selector, level] of HEADINGS)
    for (const heading of document.querySelectorAll(selector)) heading.setAttribute("aria-level", level);
  for (const [selector, label] of REGIONS)
    for (const part of document.querySelectorAll(`${selector}:not([role])`)) {
      part.setAttribute("role", "region");
      part.setAttribute("aria-label", label);
    }
  for (const table of document.querySelectorAll("table[role=region]:not([aria-label])"))
    table.setAttribute("aria-label", `Responses of ${operationOf(table)}`);
  for (const code of document.querySelectorAll("pre:not([tabindex])")) code.setAttribute("tabindex", "0");
}

function operationOf(part) {
  const summary = part.closest(".opblock")?.querySelector(".opblock-summary");
  const text = (selector) => summary?.querySelector(selector)?.textContent ?? "";
  return `${text(".opblock-summary-method")} ${text(".opblock-summary-path")}`;
}
