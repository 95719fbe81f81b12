import { pointAtCharts, linkMap } from "./chart.js";
import { addCopyButtons, listenForKeys, closeMenus } from "./controls.js";
import { followImport, awaitFirstEvent } from "./poll.js";
import { keepScroll } from "./scroll.js";

// Everything on the pages works without this script.
keepScroll();
addCopyButtons();
closeMenus();
pointAtCharts();
linkMap();
listenForKeys();
awaitFirstEvent();
followImport();
if (document.querySelector("[data-upload]") !== null)
  void import("./upload.js").then(({ addUpload }) => addUpload());
