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
        "Back up an installation with embedded stores to a new folder. The service can keep running. The " +
          "folder contains secrets.",
      )
      .argument("<folder>", "new or empty folder outside DATA_DIR; created with mode 0700")
      .action((folder: string) => explaining(admin, () => backup(admin, folder))),
    new Command("restore")
      .description(
        "Restore a backup to DATA_DIR, which must be empty or missing. The service must be stopped.",
      )
      .argument("<folder>", "folder created by `admin backup`")
      .action((folder: string) => explaining(admin, () => restore(admin, folder))),
  ];
}

async function backup({ env, print, note }: AdminProcess, folder: string): Promise<void> {
  const config = embeddedConfig(env);
  const { backUp } = await import("../backup/back-up.js");
  const manifest = await backUp({ dataDir: config.dataDir, to: folder, report: note });
  print(`Backed up to ${folder}, as of ${manifest.takenAt}: ${sizeOf(manifest)}.`);
  print(
    config.secretKey === undefined
      ? "The backup contains the secret key and all tokens and data. Protect it like a password."
      : "The backup contains all data except SECRET_KEY, which is set in the environment. Keep a copy of " +
          "the key elsewhere.",
  );
}

async function restore({ env, print }: AdminProcess, folder: string): Promise<void> {
  const { dataDir } = embeddedConfig(env);
  const { restoreBackup } = await import("../backup/restore-backup.js");
  const manifest = await restoreBackup({ from: folder, dataDir });
  print(
    `Restored ${dataDir} as of ${manifest.takenAt}: ${sizeOf(manifest)}, all verified. Start the service.`,
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
    `This command backs up embedded stores, but ${shared.join(" and ")} is set. For your own stores see ` +
      "deploy/docs/operate/backup.md.",
  );
}

async function explaining({ fail }: AdminProcess, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    fail(sentenceOf(error));
  }
}
