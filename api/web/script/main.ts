import { linkMap, pointAtCharts } from "./chart.js";
import { leaveDays } from "./choose-days.js";
import { addCopyButtons, addLocalTimes, closeMenus, keepScroll, listenForKeys } from "./controls.js";
import { openLink } from "./open-link.js";
import { awaitHosts } from "./reach.js";
import { saveImages } from "./save-image.js";
import { awaitFirstEvent, followImport } from "./poll.js";

// Everything on the pages works without this script.
keepScroll();
addCopyButtons();
addLocalTimes();
closeMenus();
pointAtCharts();
saveImages();
leaveDays();
linkMap();
listenForKeys();
awaitFirstEvent();
awaitHosts();
followImport();
openLink();
// Another link that is pasted over this one loads nothing.
addEventListener("hashchange", openLink);
if (document.querySelector("[data-upload]") !== null)
  void import("./upload.js").then(({ addUpload }) => addUpload());
const live = document.querySelector<HTMLElement>("[data-live]");
if (live !== null) void import("./live.js").then(({ followEvents }) => followEvents(live));
