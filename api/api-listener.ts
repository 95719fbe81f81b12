import type { ImportEnding } from "../schemas/records/import-store.js";

/** Called as the API does things that an operator counts. */
export interface ApiListener {
  onAnswered(request: AnsweredRequest): void;
  /** Bytes of import bodies as they are read, after decompression; dry runs count, too. */
  onImportBytes(bytes: number): void;
  onImportEnded(ending: ImportEnding): void;
  /** Bytes of an export as they are handed to the connection, before what compresses them here. */
  onExported(bytes: number): void;
  onExportEnded(ending: ExportEnding): void;
}

/** A request whose answer is out, or whose connection is gone. */
export interface AnsweredRequest {
  method: string;
  /** The pattern of its route, such as `/v2/imports/:owner`; "none" where it was refused before it had one. */
  route: string;
  /** "none" where the caller left before there was one. */
  status: number | "none";
  durationMs: number;
}

/** Complete; broken off by a fault of ours; or the caller left. */
export const EXPORT_ENDINGS = ["complete", "failed", "left"] as const;
export type ExportEnding = (typeof EXPORT_ENDINGS)[number];

/** Ignores every event. */
export const NO_LISTENER: ApiListener = {
  onAnswered: () => undefined,
  onImportBytes: () => undefined,
  onImportEnded: () => undefined,
  onExported: () => undefined,
  onExportEnded: () => undefined,
};
