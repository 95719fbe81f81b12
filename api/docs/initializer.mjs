// All addresses are relative to the page's, so that it works below any prefix; nothing is asked of another host.
window.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  filter: true,
  validatorUrl: null,
});
