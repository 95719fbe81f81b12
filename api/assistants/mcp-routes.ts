import { Problem } from "../../schemas/problem.js";
import { KIB } from "../http/body-limits.js";
import { readJson } from "../http/middleware/read-json.js";
import { type ApiContext, type Operation, type Route, route } from "../http/route.js";
import type { Postgres } from "../postgres/query.js";
import { type RpcAnswer, rpcError } from "./rpc-error.js";

interface McpDeps {
  pg: Postgres;
  /** Of the whole API: tools are some of its operations. */
  routes: () => readonly Route[];
  corsOrigins?: readonly string[];
}

/** The Model Context Protocol over Streamable HTTP. Its SDK is loaded at the first message. */
export function mcpRoutes({ pg, routes, corsOrigins = [] }: McpDeps): Route[] {
  return [
    route({
      method: "POST",
      path: "/mcp",
      action: "assistants.ask",
      operation: ASK,
      async handle({ ctx, account }) {
        requireKnownOrigin(ctx.get("Origin"), corsOrigins);
        const { status, body } = await answerRequest(ctx, async (message) => {
          const { answerBody } = await import("./answer-message.js");
          return answerBody({ pg, routes: routes(), asking: { ctx, account } }, message);
        });
        ctx.status = status;
        const form = (status === 200 && formOf(ctx)) || JSON_TYPE;
        ctx.body = Buffer.from(body === undefined ? "" : written(body, form));
        if (body === undefined) ctx.remove("Content-Type");
        else ctx.type = form;
      },
    }),
  ];
}

const JSON_TYPE = "application/json";
const SSE = "text/event-stream";

/** JSON, or a stream of one message for clients that take nothing else. They must take both, but some name one. */
function formOf(ctx: ApiContext): string | undefined {
  if (ctx.get("Accept").trim() === "" || ctx.accepts(`${JSON_TYPE}; charset=utf-8`)) return JSON_TYPE;
  return ctx.accepts(SSE) ? SSE : undefined;
}

function written(body: unknown, form: string): string {
  const text = JSON.stringify(body);
  return form === SSE ? `event: message\ndata: ${text}\n\n` : text;
}

async function answerRequest(
  ctx: ApiContext,
  answer: (message: unknown) => Promise<RpcAnswer>,
): Promise<RpcAnswer> {
  if (formOf(ctx) === undefined)
    return rpcError("other", `Accept must allow ${JSON_TYPE} or ${SSE}.`, { status: 406 });
  if (ctx.get("Content-Type") !== "" && ctx.is(JSON_TYPE) === false)
    return rpcError("other", `The body must be ${JSON_TYPE}.`, { status: 415 });
  const message = await readMessage(ctx);
  return message instanceof Problem ? rpcError("parseError", message.message) : answer(message);
}

async function readMessage(ctx: ApiContext): Promise<unknown> {
  try {
    return await readJson(ctx, (body) => body);
  } catch (error) {
    if (error instanceof Problem && error.code === "malformed-json") return error;
    throw error;
  }
}

/**
 * Assistants are programs, and send no origin. A page sends its own, which must be one that may call the API: a name that
 * an attacker points at this machine would pass for ours (DNS rebinding).
 */
function requireKnownOrigin(origin: string, known: readonly string[]): void {
  if (origin === "" || known.includes("*") || known.includes(origin)) return;
  throw new Problem(
    "forbidden",
    "Pages of this origin may not call the service; its operator can allow them.",
  );
}

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const MESSAGE = {
  type: "object",
  required: ["jsonrpc"],
  properties: { jsonrpc: { const: "2.0" } },
  description: "A message of JSON-RPC 2.0, as the protocol has it",
};
const MESSAGES = { anyOf: [MESSAGE, { type: "array", minItems: 1, maxItems: 10, items: MESSAGE }] };
const REFUSED = { type: "object", description: "A message with `error`, or the usual `code` and `message`" };

const ASK: Operation = {
  id: "askForAssistant",
  summary: "The Model Context Protocol, for assistants",
  description:
    "Streamable HTTP without sessions: each request has one message, and is answered with JSON, or with a stream of one " +
    "message where `Accept` leaves JSON out. Up to version 2025-03-26 of the protocol a request may be a batch of up to " +
    "10. The tools are read operations of this API, and answer what the token may read.",
  body: { schema: MESSAGES, example: PING, limits: { bytesMax: 64 * KIB, valuesMax: 1_000 } },
  answers: {
    200: {
      description: "The answer",
      schema: MESSAGES,
      example: { jsonrpc: "2.0", id: 1, result: {} },
      others: {
        [SSE]: {
          schema: { type: "string" },
          example: 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}',
        },
      },
    },
    202: { description: "A notification was taken" },
    400: {
      description: "No JSON, no message of the protocol, or of a version of it that is not known",
      schema: REFUSED,
    },
    406: {
      description: "`Accept` allows neither `application/json` nor `text/event-stream`",
      schema: REFUSED,
    },
    415: { description: "The body is not `application/json`, or compressed", schema: REFUSED },
  },
  problems: ["forbidden"],
};
