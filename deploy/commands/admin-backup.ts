import { numbered } from "../../schemas/records/numbered.js";
import { Command } from "commander";
import { formatSize } from "../../schemas/records/format-size.js";
import type { BackupManifest } from "../backup/backup-manifest.js";
import { type Config, parseConfig } from "../config/config.js";
import { StartFailure } from "../process/start-failure.js";
import { type AdminProcess, sentenceOf } from "./administer.js";

export function backupCommands(admin: AdminProcess): Command[] {
  return [
    new Command("backup")
      .description(
        "Back up an installation with embedded stores into a new folder, while the service runs or not. The folder holds secrets.",
      )
      .argument("<folder>", "missing or empty, outside DATA_DIR; made with mode 0700")
      .action((folder: string) => explaining(admin, () => backup(admin, folder))),
    new Command("restore")
      .description(
        "Restore a backup into DATA_DIR, which must be empty or missing, while no service runs on it.",
      )
      .argument("<folder>", "made by `admin backup`")
      .action((folder: string) => explaining(admin, () => restore(admin, folder))),
  ];
}

async function backup({ env, print, note }: AdminProcess, folder: string): Promise<void> {
  const config = embeddedConfig(env);
  const { backUp } = await import("../backup/back-up.js");
  const manifest = await backUp({ dataDir: config.dataDir, to: folder, report: note });
  print(`${folder} holds this installation as it was at ${manifest.takenAt}: ${sizeOf(manifest)}.`);
  print(
    config.secretKey === undefined
      ? "It holds the secret key, and everybody's tokens and data: protect it like a password."
      : "It holds everybody's data, but not SECRET_KEY of the environment: keep a copy of that elsewhere.",
  );
}

async function restore({ env, print }: AdminProcess, folder: string): Promise<void> {
  const { dataDir } = embeddedConfig(env);
  const { restoreBackup } = await import("../backup/restore-backup.js");
  const manifest = await restoreBackup({ from: folder, dataDir });
  print(
    `${dataDir} is as it was at ${manifest.takenAt}: ${sizeOf(manifest)}, all checked. Start the service.`,
  );
}

function sizeOf({ bytes, files }: BackupManifest): string {
  return `${formatSize(bytes)} in ${numbered(files, "file")}`;
}

function embeddedConfig(env: AdminProcess["env"]): Config {
  const config = parseConfig(env);
  const shared = [
    config.databaseUrl !== undefined && "DATABASE_URL",
    config.clickhouseUrl !== undefined && "CLICKHOUSE_URL",
    config.kafka !== undefined && "KAFKA_BROKERS",
  ].filter((name) => name !== false);
  if (shared.length === 0) return config;
  throw new StartFailure(
    `This is for embedded stores, and ${shared.join(" and ")} is set: for your own stores see deploy/docs/backup.md.`,
  );
}

async function explaining({ fail }: AdminProcess, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    fail(sentenceOf(error));
  }
}
