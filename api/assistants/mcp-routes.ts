import { Problem } from "../../schemas/problem.js";
import { readJson } from "../http/middleware/read-json.js";
import { type Operation, type Route, route } from "../http/route.js";
import type { Postgres } from "../postgres/query.js";

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
        const message = await readJson(ctx, requireOneMessage);
        const { answerMessage } = await import("./answer-message.js");
        const answer = await answerMessage({ pg, routes: routes() }, { ctx, account }, message);
        ctx.status = answer.status;
        const body = Buffer.from(await answer.arrayBuffer());
        ctx.body = body;
        if (body.length > 0) ctx.type = "application/json";
        else ctx.remove("Content-Type");
      },
    }),
  ];
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

/** A batch, which the protocol no longer has, would be many questions for one request. */
function requireOneMessage(body: unknown): unknown {
  if (!Array.isArray(body)) return body;
  throw new Problem("invalid-body", "Send one message of the protocol in a request, not a list of them.");
}

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const MESSAGE = {
  type: "object",
  required: ["jsonrpc"],
  properties: { jsonrpc: { const: "2.0" } },
  description: "A message of JSON-RPC 2.0, as the protocol has it",
};
const REFUSED = { type: "object", description: "A message with `error`, or the usual `code` and `message`" };

const ASK: Operation = {
  id: "askForAssistant",
  summary: "The Model Context Protocol, for assistants",
  description:
    "Streamable HTTP without sessions: each request has one message, and is answered with JSON. The tools are read " +
    "operations of this API, and answer what the token may read.",
  body: { schema: MESSAGE, example: PING },
  answers: {
    200: { description: "The answer", schema: MESSAGE, example: { jsonrpc: "2.0", id: 1, result: {} } },
    202: { description: "A notification was taken" },
    400: {
      description: "No message of the protocol, or of a version of it that is not known",
      schema: REFUSED,
    },
    406: { description: "`Accept` lacks `application/json` or `text/event-stream`", schema: REFUSED },
    415: { description: "The body is not `application/json`, or compressed", schema: REFUSED },
  },
  problems: ["forbidden"],
};
