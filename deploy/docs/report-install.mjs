// Reports one installation of an npm package. Add "postinstall": "node report-install.mjs" to the scripts in package.json.
// Sends the name and version of the package, the platform and the version of Node. A failed report never fails the installation.
import { readFileSync } from "node:fs";

const REPORTS_URL = process.env.REPORTS_URL ?? "https://get.you.example";
const { name, version } = JSON.parse(readFileSync("package.json", "utf8"));

// People who do not want to be counted set DO_NOT_TRACK=1: https://consoledonottrack.com
if (process.env.DO_NOT_TRACK !== "1")
  await fetch(`${REPORTS_URL}/package-event/install`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      dependencyInfo: { parent: { name, version } },
      rawPlatform: process.platform,
      nodeVersion: process.versions.node,
    }),
    signal: AbortSignal.timeout(3000),
  }).catch(() => {});
