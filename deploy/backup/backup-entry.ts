/** A file, folder or symbolic link of a backup. Its path is below the backup and below DATA_DIR. */
export type BackupEntry =
  | { path: string; kind: "folder"; mode: number; mtimeMs: number }
  | { path: string; kind: "file"; mode: number; mtimeMs: number; size: number; sha256: string }
  | { path: string; kind: "link"; target: string };
