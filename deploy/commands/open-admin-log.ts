import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EventLog, LagReader } from "../../schemas/records/event-log.js";
import { createLog } from "../process/log.js";
import type { EventLogSource } from "../stores/open-event-log.js";

/** Never creates an embedded log: records in a log that nobody reads would be lost. */
export async function openAdminLog(source: EventLogSource): Promise<EventLog & LagReader> {
  if ("dir" in source && !existsSync(join(source.dir, "data.mdb")))
    throw new Error(
      `There is no event log in ${source.dir}: give the DATA_DIR of the server, on its machine.`,
    );
  // Loaded here: few commands need the drivers of the logs.
  const { openEventLog } = await import("../stores/open-event-log.js");
  return openEventLog(source, createLog({ level: "error" }));
}
