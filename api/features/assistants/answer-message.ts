import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  DEFAULT_NEGOTIATED_PROTOCOL_VERSION,
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  type JSONRPCRequest,
  JSONRPCMessageSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  isJSONRPCRequest,
} from "@modelcontextprotocol/sdk/types.js";
import { lacks } from "../../base/access/access.js";
import { PRODUCT } from "../../base/http/product.js";
import type { Route } from "../../base/http/route.js";
import type { Postgres } from "../../base/postgres/query.js";
import { type Asking, callTool } from "./call-tool.js";
import { rpcError, type RpcAnswer } from "./rpc-error.js";
import { DATA_NOTE, TOOLS, describeTool } from "./tools.js";

interface Answering {
  pg: Postgres;
  routes: readonly Route[];
  asking: Asking;
}

/**
 * Answers the body of a request: a message of the protocol, or several in the versions that have batches. There are no
 * sessions. The module loads the SDK: import it when the first message is here.
 */
export async function answerBody(answering: Answering, body: unknown): Promise<RpcAnswer> {
  const version = answering.asking.ctx.get("MCP-Protocol-Version");
  if (version !== "" && !SUPPORTED_PROTOCOL_VERSIONS.includes(version) && !isInitialize(body)) {
    const known = SUPPORTED_PROTOCOL_VERSIONS.join(", ");
    return rpcError(
      "other",
      `The protocol version ${version.slice(0, 40)} is not supported. Supported versions: ${known}.`,
    );
  }
  if (!Array.isArray(body)) return answerMessage(answering, body);
  // Without the header the version is the one that had none (2025-11-25, "Protocol Version Header").
  if ((version || DEFAULT_NEGOTIATED_PROTOCOL_VERSION) > DEFAULT_NEGOTIATED_PROTOCOL_VERSION)
    return invalid("Send one message per request: this protocol version does not support batches.");
  return answerBatch(answering, body as unknown[]);
}

/** Each message is a question for the database. */
const BATCH_MAX = 10;

async function answerBatch(answering: Answering, messages: readonly unknown[]): Promise<RpcAnswer> {
  if (messages.length === 0) return invalid("The batch is empty.");
  if (messages.length > BATCH_MAX) return invalid(`A batch can have at most ${BATCH_MAX} messages.`);
  if (messages.some(isInitialize)) return invalid("`initialize` must not be part of a batch.");
  const answers: unknown[] = [];
  for (const message of messages) {
    const { body } = await answerMessage(answering, message);
    if (body !== undefined) answers.push(body);
  }
  return answers.length === 0 ? TAKEN : { status: 200, body: answers };
}

/** Without a body for a message that is only taken. */
const TAKEN: RpcAnswer = { status: 202 };

function invalid(message: string, id?: string | number): RpcAnswer {
  return rpcError("invalidRequest", message, { id });
}

async function answerMessage(answering: Answering, sent: unknown): Promise<RpcAnswer> {
  const { success, data: message } = JSONRPCMessageSchema.safeParse(sent);
  if (!success) return invalid("The body is not a JSON-RPC 2.0 message.", idOf(sent));
  if (!isJSONRPCRequest(message)) return TAKEN;
  const fault = faultOf(message);
  if (fault !== undefined) return rpcError("invalidParams", fault, { status: 200, id: message.id });
  return { status: 200, body: await askServer(answering, message) };
}

/** The SDK takes wrong parameters for an error of its own. */
function faultOf(request: JSONRPCRequest): string | undefined {
  const schema = REQUESTS.find(({ shape }) => shape.method.value === request.method);
  const [fault] = schema?.safeParse(request).error?.issues ?? [];
  return fault && `${fault.path.join(".")}: ${fault.message}`;
}

const REQUESTS = [
  InitializeRequestSchema,
  PingRequestSchema,
  ListToolsRequestSchema,
  CallToolRequestSchema,
] as const;

function isInitialize(sent: unknown): boolean {
  return typeof sent === "object" && sent !== null && "method" in sent && sent.method === "initialize";
}

function idOf(sent: unknown): string | number | undefined {
  const id: unknown = typeof sent === "object" && sent !== null && "id" in sent ? sent.id : undefined;
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as string | number) : undefined;
}

/** A server answers this one request. */
async function askServer(answering: Answering, request: JSONRPCRequest): Promise<JSONRPCMessage> {
  const server = createServer(answering);
  const transport: Transport = {
    start: async () => undefined,
    send: async () => undefined,
    close: async () => undefined,
  };
  await server.connect(transport);
  try {
    return await new Promise((resolve) => {
      transport.send = async (message) => resolve(message);
      transport.onmessage?.(request);
    });
  } finally {
    await server.close();
  }
}

function createServer({ pg, routes, asking }: Answering): Server {
  const server = new Server({ name: "maintainer-toolchain", version: PRODUCT.version }, OPTIONS);
  const offered = TOOLS.flatMap((tool) => {
    const route = routes.find(({ operation }) => operation.id === tool.operation);
    // A token without the scope sees no tool that it may not use.
    return route && lacks(asking.account.limited, route.action) === undefined ? [{ tool, route }] : [];
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: offered.map(({ tool, route }) => describeTool(tool, route)),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: given = {} } }) => {
    const found = offered.find(({ tool }) => tool.name === name);
    if (found !== undefined) return callTool(pg, asking, { ...found, given });
    const names = offered.map(({ tool }) => tool.name).join(", ") || "none";
    const sentence = `Unknown tool. This token can use: ${names}.`;
    throw Object.assign(new Error(sentence), { code: ErrorCode.InvalidParams });
  });
  return server;
}

const OPTIONS = {
  capabilities: { tools: {} },
  instructions:
    "Download statistics of software packages: counts, companies, countries, clients and versions. All " +
    "tools are read-only. All data imported before complete_through is included. Share dashboard_url so " +
    `that people can look at the numbers themselves. ${DATA_NOTE}`,
};
