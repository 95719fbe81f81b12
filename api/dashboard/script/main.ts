import { pointAtCharts } from "./chart.js";
import { addCopyButtons } from "./copy.js";
import { followImport } from "./import-progress.js";
import { listenForKeys } from "./keys.js";
import { linkMap } from "./map.js";
import { closeMenus } from "./menus.js";
import { keepScroll } from "./scroll.js";
import { awaitFirstEvent } from "./wait.js";

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
