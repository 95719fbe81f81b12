import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import type { Pool } from "pg";
import {
  dropParkedChunks,
  listParkedChunks,
  retryParkedChunk,
  type Retried,
  type RetriedChunk,
  type WaitingChunk,
} from "../../api/stores/imports/dead-letters.js";
import type { EventLog } from "../../schemas/records/event-log.js";
import type { Administer, Administered } from "./administer.js";
import { createLog } from "../process/log.js";
import type { EventLogSource } from "../stores/open-event-log.js";

/** `admin parked ...`: what becomes of chunks that enrichment set aside. */
export function parkedCommand(administer: Administer): Command {
  return new Command("parked")
    .description("Chunks of lines that could not be processed and were set aside.")
    .addCommand(listCommand(administer))
    .addCommand(retryCommand(administer))
    .addCommand(dropCommand(administer));
}

function listCommand(administer: Administer): Command {
  return new Command("list")
    .description("List what is set aside: id, import, owner, first line, lines, tries, time and reason.")
    .option("--json", "one JSON object a line")
    .action(({ json = false }: { json?: boolean }) =>
      administer(async ({ pg }) => {
        const chunks = await listParkedChunks(pg);
        return json ? chunks.map((chunk) => JSON.stringify(chunk)) : tableOf(chunks);
      }),
    );
}

function retryCommand(administer: Administer): Command {
  return new Command("retry")
    .description(
      "Append chunks to the event log again; their lines count as imported once they are enriched.",
    )
    .argument("[id...]", "as `list` shows them", parseIds)
    .option("--all", "every one that is set aside")
    .action((ids: number[], { all = false }: { all?: boolean }) =>
      administer(async (deps) => {
        if (all === ids.length > 0) throw new Error("Give the ids of chunks, or --all.");
        return retryChunks(all ? (await listParkedChunks(deps.pg)).map(({ id }) => id) : ids, deps);
      }),
    );
}

function dropCommand(administer: Administer): Command {
  return new Command("drop")
    .description("Forget chunks for good; their lines stay counted as failed.")
    .argument("<id...>", "as `list` shows them", parseIds)
    .action((ids: number[]) => administer(({ pg }) => dropChunks(pg, ids)));
}

function parseIds(text: string, before: number[] = []): number[] {
  const id = Number(text);
  if (/^\d+$/.test(text) && id > 0 && Number.isSafeInteger(id)) return [...before, id];
  throw new InvalidArgumentError("Ids are whole numbers, as `admin parked list` shows them.");
}

const HEADINGS = ["ID", "IMPORT", "OWNER", "FIRST LINE", "LINES", "TRIES", "PARKED AT", "REASON"];

function tableOf(chunks: readonly WaitingChunk[]): string[] {
  if (chunks.length === 0) return ["Nothing is set aside."];
  const rows = chunks.map((chunk) => [
    String(chunk.id),
    chunk.importId ?? "-",
    chunk.owner ?? "-",
    String(chunk.firstLine),
    String(chunk.lines),
    String(chunk.tries),
    chunk.parkedAt,
    chunk.reason,
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [HEADINGS, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** One by one: what was appended is no longer set aside, whatever becomes of the others. */
async function retryChunks(ids: readonly number[], { pg, logSource }: Administered): Promise<string[]> {
  if (ids.length === 0) return ["Nothing is set aside."];
  await using log = await openLog(logSource);
  const idsOf: Record<Retried, number[]> = { appended: [], closed: [], unknown: [] };
  for (const id of new Set(ids)) {
    try {
      idsOf[await retryParkedChunk(pg, id, (chunk) => appendAgain(chunk, log))].push(id);
    } catch (cause) {
      throw new Error(`${sentenceOf(idsOf)} Then chunk ${id} could not be appended.`, { cause });
    }
  }
  if (idsOf.closed.length + idsOf.unknown.length > 0) throw new Error(sentenceOf(idsOf));
  return [sentenceOf(idsOf)];
}

async function appendAgain({ partition, record }: RetriedChunk, log: EventLog): Promise<void> {
  await log.append([record], { partition: partition % log.partitions });
}

function sentenceOf({ appended, closed, unknown }: Record<Retried, readonly number[]>): string {
  const sentences = [`${countOf(appended.length)} appended to the event log again.`];
  if (closed.length > 0)
    sentences.push(
      `Not ${closed.join(", ")}: the import was aborted or taken back, nothing more goes into it; drop what is left.`,
    );
  if (unknown.length > 0) sentences.push(unknownChunks(unknown).message);
  return sentences.join(" ");
}

/** Never makes an embedded one: what is appended to a log that nobody reads would be lost. */
async function openLog(source: EventLogSource): Promise<EventLog> {
  if ("dir" in source && !existsSync(join(source.dir, "data.mdb")))
    throw new Error(
      `There is no event log in ${source.dir}: give the DATA_DIR of the server, on its machine.`,
    );
  // Loaded here: no other command needs the drivers of the logs.
  const { openEventLog } = await import("../stores/open-event-log.js");
  return openEventLog(source, createLog({ level: "error" }));
}

async function dropChunks(pg: Pool, ids: readonly number[]): Promise<string[]> {
  const wanted = [...new Set(ids)];
  const unknown = await dropParkedChunks(pg, wanted);
  if (unknown.length > 0) throw unknownChunks(unknown);
  return [`${countOf(wanted.length)} dropped.`];
}

function unknownChunks(ids: readonly number[]): Error {
  const named = ids.length === 1 ? `chunk ${ids[0]} is` : `chunks ${ids.join(", ")} are`;
  return new Error(`No ${named} set aside; see: admin parked list`);
}

function countOf(chunks: number): string {
  if (chunks === 0) return "No chunk was";
  return chunks === 1 ? "1 chunk was" : `${chunks} chunks were`;
}
