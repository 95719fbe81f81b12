import type { FuzzTarget } from "../fuzz-world.js";
import { formattedFiles } from "./formatted-files.js";
import { importLines } from "./import-lines.js";
import { liveRequests } from "./live-requests.js";
import { managementRequests } from "./management-requests.js";
import { rawBytes } from "./raw-bytes.js";
import { urlTemplates } from "./url-templates.js";

/** In the order in which a round tries them. */
export function fuzzTargets({ linesMax }: { linesMax: number }): readonly FuzzTarget[] {
  return [
    importLines({ linesMax }),
    formattedFiles({ linesMax }),
    managementRequests,
    liveRequests,
    urlTemplates,
    rawBytes,
  ];
}
