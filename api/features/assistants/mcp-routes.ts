import { Problem } from "../../../schemas/problem.js";
import { KIB } from "../../base/http/body-limits.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import { type ApiContext, type Operation, type Route, route } from "../../base/http/route.js";
import type { Postgres } from "../../base/postgres/query.js";
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
    "This origin is not allowed. The operator of this service can add it to CORS_ORIGINS.",
  );
}

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const MESSAGE = {
  type: "object",
  required: ["jsonrpc"],
  properties: { jsonrpc: { const: "2.0" } },
  description: "A JSON-RPC 2.0 message as defined by the protocol",
};
const MESSAGES = { anyOf: [MESSAGE, { type: "array", minItems: 1, maxItems: 10, items: MESSAGE }] };
const REFUSED = { type: "object", description: "A message with `error`, or the API's `code` and `message`" };

const ASK: Operation = {
  id: "askForAssistant",
  summary: "Call the Model Context Protocol server",
  description:
    "Streamable HTTP without sessions. Each request contains one message; the response is JSON, or a " +
    "stream with one message if `Accept` does not include JSON. With protocol version 2025-03-26 and " +
    "earlier a request can be a batch of up to 10 messages. The tools are read operations of this API " +
    "and return only what the token can read.",
  body: { schema: MESSAGES, example: PING, limits: { bytesMax: 64 * KIB, valuesMax: 1_000 } },
  answers: {
    200: {
      description: "The response",
      schema: MESSAGES,
      example: { jsonrpc: "2.0", id: 1, result: {} },
      others: {
        [SSE]: {
          schema: { type: "string" },
          example: 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}',
        },
      },
    },
    202: { description: "Notification accepted" },
    400: {
      description:
        "The body is not JSON or not a message of the protocol, or the protocol version is unknown",
      schema: REFUSED,
    },
    406: {
      description: "`Accept` includes neither `application/json` nor `text/event-stream`",
      schema: REFUSED,
    },
    415: { description: "The body is not `application/json`, or it is compressed", schema: REFUSED },
  },
  problems: ["forbidden"],
};
