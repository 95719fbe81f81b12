import { Problem } from "../../../schemas/problem.js";
import { readOwner } from "../../base/access/owners.js";
import { withQuery } from "../../web/address.js";
import { callOwnApi } from "../../base/http/call-own-api.js";
import { problemFor } from "../../base/http/middleware/answer-problems.js";
import { parametersOf, wordedPaths } from "../../base/http/openapi/components.js";
import type { Call } from "../../base/http/route.js";
import { readExportState } from "../imports/export-state.js";
import type { Postgres } from "../../base/postgres/query.js";
import { type Arguments, DATA_NOTE, type Tool, type ToolRoute, pageOf } from "./tools.js";

export type Asking = Pick<Call, "ctx" | "account">;

interface ToolResult {
  [field: string]: unknown;
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

/** Calls the tool's operation as the caller of `/mcp`. A refusal is a result as well, so that the assistant reads why. */
export async function callTool(
  pg: Postgres,
  asking: Asking,
  { tool, route, given }: { tool: Tool; route: ToolRoute; given: Arguments },
): Promise<ToolResult> {
  try {
    const structuredContent = await answerOf(pg, asking, { tool, route, given });
    return {
      structuredContent,
      content: [{ type: "text", text: visible(JSON.stringify(structuredContent)) }],
    };
  } catch (error) {
    if (asking.ctx.state.left.aborted) throw error;
    const { code, message, errors = [] } = problemFor(asking.ctx, error);
    const faults = errors.map(({ path, message: fault }) => `${path} ${fault}`);
    const text = visible([`${message} (${code})`, ...faults].join("\n"));
    return { isError: true, content: [{ type: "text", text }] };
  }
}

async function answerOf(
  pg: Postgres,
  { ctx, account }: Asking,
  { tool, route, given }: { tool: Tool; route: ToolRoute; given: Arguments },
): Promise<Record<string, unknown>> {
  const texts = textsOf({ ...tool.defaults, ...given, ...tool.set });
  const [owner] = texts.get("owner") ?? [];
  // Read before the numbers, so that it promises no more than they have.
  const complete = owner === undefined ? undefined : await completeThroughOf(pg, account.id, [owner]);
  // The path of one operation with a word of another in it, such as a list named packages, is the path of the other.
  const { requireCaller } = ctx.state;
  const caller = { account, requireCaller, operation: route.operation.id };
  const answered = await callOwnApi<object>(ctx, caller, { url: urlOf(route, texts) });
  const answer = tool.list === undefined ? answered : listed(tool.list, answered as unknown[], texts);
  return {
    note: DATA_NOTE,
    dashboard_url: `${ctx.state.publicBase}/dashboard${pageOf(tool, route.operation, texts)}`,
    complete_through: complete ?? (await completeThroughOf(pg, account.id, ownersIn(answered))),
    ...answer,
  };
}

/** A bare list cannot say that there is more. */
function listed(name: string, entries: readonly unknown[], texts: Map<string, string[]>): object {
  const last = entries.at(-1) as { uuid?: string } | undefined;
  const isFull = String(entries.length) === texts.get("limit")?.[0];
  return { [name]: entries, ...(isFull && { next_after: last?.uuid }) };
}

/** Arguments as texts of parameters, lists with several; null is not given. Throws `invalid-query` for objects. */
function textsOf(given: Arguments): Map<string, string[]> {
  const pairs = Object.entries(given).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    const values = Array.isArray(value) ? (value as unknown[]) : [value];
    if (values.every((each) => ["string", "number", "boolean"].includes(typeof each)))
      return [[name, values.map((each) => String(each).replace(/\p{Surrogate}/gu, "\uFFFD"))] as const];
    throw new Problem(
      "invalid-query",
      `${name.slice(0, 40)} must be a string, a number, or a list of strings and numbers.`,
    );
  });
  return new Map(pairs);
}

/** As long as the URL of a request may be. */
const URL_LENGTH_MAX = 8_000;

function urlOf({ path, operation }: ToolRoute, texts: Map<string, string[]>): string {
  const [template] = wordedPaths({ path });
  const inPath = parametersOf(template);
  const at = template.replace(/:(\w+)/g, (_, name: string) => {
    const [text = ""] = texts.get(name) ?? [];
    if (text === "") throw new Problem("invalid-query", `${name} is required.`);
    return encodeURIComponent(text);
  });
  const rest = [...texts].filter(([name]) => !inPath.includes(name));
  const url = withQuery(at, Object.fromEntries(rest));
  if (url.length <= URL_LENGTH_MAX) return url;
  throw new Problem("invalid-query", `The arguments of ${operation.id} are too long; pass fewer values.`);
}

/** Of the owners that the caller can see among these. */
async function completeThroughOf(pg: Postgres, accountId: string, names: readonly string[]): Promise<string> {
  const owners = await Promise.all([...new Set(names)].map((name) => readOwner(pg, { accountId, name })));
  const ids = owners.flatMap((owner) => owner?.id ?? []);
  return (await readExportState(pg, ids)).completeThrough;
}

/** Whose packages a list has. */
function ownersIn(answered: object): string[] {
  const entries = Array.isArray(answered) ? (answered as { owner?: string }[]) : [];
  return entries.flatMap(({ owner }) => owner ?? []);
}

const HIDDEN = /[\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}\u007F-\u009F\u2028\u2029]/gu;

/** Text in which no character hides: invisible ones, with which text can carry what a person does not see, are escaped. */
function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) =>
    Array.from(
      { length: hidden.length },
      (_, at) => `\\u${hidden.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}
