import { expect } from "vitest";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { openUpload, type Upload } from "./open-upload.js";

/** The import that was started last, whatever its status; undefined before the first one. */
export async function newestImport(api: ApiClient, owner: string): Promise<EventImport | undefined> {
  const { event_imports } = await api.get<{ event_imports: EventImport[] }>(`/v2/imports/${owner}`);
  return event_imports[0];
}

export interface UploadStart {
  /** The owner of the imports: nobody else may start one of theirs meanwhile. */
  owner: string;
  path: string;
  headers?: Record<string, string>;
}

/** Opens an upload, and waits until its import is there: an earlier one may still be `importing`. */
export async function startUpload(
  api: ApiClient,
  { owner, path, headers }: UploadStart,
): Promise<{ upload: Upload; started: EventImport }> {
  const before = await newestImport(api, owner);
  const upload = openUpload(api, path, headers);
  const newest = () => newestImport(api, owner);
  await expect.poll(async () => (await newest())?.id).not.toBe(before?.id);
  return { upload, started: (await newest()) as EventImport };
}
