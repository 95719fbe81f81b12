import type { ImportEnding } from "../../../schemas/records/import-store.js";

export interface ApiListener {
  onAnswered(request: AnsweredRequest): void;
  /** Bytes of import bodies as they are read, after decompression. Includes dry runs. */
  onImportBytes(bytes: number): void;
  onImportEnded(ending: ImportEnding): void;
  /** Bytes of an export as they are handed to the connection, before compression by this process. */
  onExported(bytes: number): void;
  onExportEnded(ending: ExportEnding): void;
}

/** A request that was answered, or whose connection closed. */
export interface AnsweredRequest {
  method: string;
  /** The pattern of its route, such as `/v2/imports/:owner`; "none" if no route was reached. */
  route: string;
  /** "none" if the caller left before the answer. */
  status: number | "none";
  durationMs: number;
}

/** `failed`: broken off by a fault of ours. `left`: the caller closed the connection. */
export const EXPORT_ENDINGS = ["complete", "failed", "left"] as const;
export type ExportEnding = (typeof EXPORT_ENDINGS)[number];

export const NO_LISTENER: ApiListener = {
  onAnswered: () => undefined,
  onImportBytes: () => undefined,
  onImportEnded: () => undefined,
  onExported: () => undefined,
  onExportEnded: () => undefined,
};
