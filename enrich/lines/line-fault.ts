import type { LogClass, LogType } from "../../schemas/records/import-log.js";

/** A fact about a line, for the log of its import: `error` refuses the line, `warning` does not. */
export interface LineFault {
  class: LogClass;
  type: LogType;
  message: string;
  packageId?: string;
  pixelId?: string;
}

export function error(type: LogType, message: string, artifact: Partial<LineFault> = {}): LineFault {
  return { class: "error", type, message, ...artifact };
}

export function warning(type: LogType, message: string): LineFault {
  return { class: "warning", type, message };
}
