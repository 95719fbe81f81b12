import { Command, InvalidArgumentError } from "commander";
import type { Pool } from "pg";
import {
  type AppendedLetter,
  type Retried,
  type RetriedLetter,
  type WaitingLetter,
  dropDeadLetters,
  listDeadLetters,
  retryDeadLetter,
} from "../../api/features/imports/dead-letters.js";
import type { EventLog } from "../../schemas/records/event-log.js";
import { type Administer, type Administered, openAdminLog } from "./administer.js";

/** `admin dead-letters ...`: list, retry or drop the chunks of lines that enrichment could not process. */
export function deadLettersCommand(administer: Administer): Command {
  return new Command("dead-letters")
    .description("Manage dead letters: chunks of lines that could not be processed.")
    .addCommand(listCommand(administer))
    .addCommand(retryCommand(administer))
    .addCommand(dropCommand(administer));
}

function listCommand(administer: Administer): Command {
  return new Command("list")
    .description("List dead letters: id, import, owner, first line, lines, attempts, time and reason.")
    .option("--json", "print JSON, one object per line")
    .action(({ json = false }: { json?: boolean }) =>
      administer(async ({ pg }) => {
        const letters = await listDeadLetters(pg);
        return json ? letters.map((letter) => JSON.stringify(letter)) : tableOf(letters);
      }),
    );
}

function retryCommand(administer: Administer): Command {
  return new Command("retry")
    .description(
      "Append dead letters to the event log again. Their lines count as imported once they are enriched.",
    )
    .argument("[id...]", "ids as shown by `list`", parseIds)
    .option("--all", "retry all dead letters")
    .action((ids: number[], { all = false }: { all?: boolean }) =>
      administer(async (deps) => {
        if (all === ids.length > 0) throw new Error("Pass the ids of dead letters, or --all.");
        return retryLetters(all ? (await listDeadLetters(deps.pg)).map(({ id }) => id) : ids, deps);
      }),
    );
}

function dropCommand(administer: Administer): Command {
  return new Command("drop")
    .description("Permanently delete dead letters. Their lines stay counted as failed.")
    .argument("<id...>", "ids as shown by `list`", parseIds)
    .action((ids: number[]) => administer(({ pg }) => dropLetters(pg, ids)));
}

function parseIds(text: string, before: number[] = []): number[] {
  const id = Number(text);
  if (/^\d+$/.test(text) && id > 0 && Number.isSafeInteger(id)) return [...before, id];
  throw new InvalidArgumentError("Ids must be whole numbers, as shown by `admin dead-letters list`.");
}

const HEADINGS = ["ID", "IMPORT", "OWNER", "FIRST LINE", "LINES", "TRIES", "SINCE", "REASON"];

function tableOf(letters: readonly WaitingLetter[]): string[] {
  if (letters.length === 0) return ["No dead letters."];
  const rows = letters.map((letter) => [
    String(letter.id),
    letter.importId ?? "-",
    letter.owner ?? "-",
    String(letter.firstLine),
    String(letter.lines),
    String(letter.tries),
    letter.createdAt,
    letter.reason,
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

/** One by one: those that were appended stay so, also where a later one fails. */
async function retryLetters(ids: readonly number[], { pg, logSource }: Administered): Promise<string[]> {
  if (ids.length === 0) return ["No dead letters."];
  await using log = await openAdminLog(logSource);
  const idsOf: Record<Retried, number[]> = { appended: [], closed: [], unknown: [] };
  for (const id of new Set(ids)) {
    try {
      idsOf[await retryDeadLetter(pg, id, (letter) => appendAgain(letter, log))].push(id);
    } catch (cause) {
      throw new Error(`${sentenceOf(idsOf)} After that, dead letter ${id} could not be appended.`, { cause });
    }
  }
  if (idsOf.closed.length + idsOf.unknown.length > 0) throw new Error(sentenceOf(idsOf));
  return [sentenceOf(idsOf)];
}

async function appendAgain(
  { partition: before, record }: RetriedLetter,
  log: EventLog,
): Promise<AppendedLetter> {
  const partition = before % log.partitions;
  return { partition, end: await log.append([record], { partition }) };
}

function sentenceOf({ appended, closed, unknown }: Record<Retried, readonly number[]>): string {
  const sentences = [`${countOf(appended.length)} appended to the event log again.`];
  if (closed.length > 0)
    sentences.push(
      `Not retried: ${closed.join(", ")}. Their import was aborted or retracted and accepts no more ` +
        "lines. Drop these dead letters instead.",
    );
  if (unknown.length > 0) sentences.push(unknownLetters(unknown).message);
  return sentences.join(" ");
}

async function dropLetters(pg: Pool, ids: readonly number[]): Promise<string[]> {
  const wanted = [...new Set(ids)];
  const unknown = await dropDeadLetters(pg, wanted);
  if (unknown.length > 0) throw unknownLetters(unknown);
  return [`${countOf(wanted.length)} dropped.`];
}

function unknownLetters(ids: readonly number[]): Error {
  const missing =
    ids.length === 1
      ? `There is no open dead letter with the id ${ids[0]}`
      : `There are no open dead letters with the ids ${ids.join(", ")}`;
  return new Error(`${missing}. See: admin dead-letters list`);
}

function countOf(letters: number): string {
  if (letters === 0) return "No dead letter was";
  return letters === 1 ? "1 dead letter was" : `${letters} dead letters were`;
}
