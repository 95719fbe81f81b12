import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { lacks } from "../access/access.js";
import { PRODUCT } from "../http/product.js";
import type { Route } from "../http/route.js";
import type { Postgres } from "../postgres/query.js";
import { type Asking, callTool } from "./call-tool.js";
import { DATA_NOTE, TOOLS, describeTool } from "./tools.js";

interface Answering {
  pg: Postgres;
  routes: readonly Route[];
}

/**
 * Answers one message of the protocol, as JSON and without a session. The module loads the SDK: import it when the first
 * message is here.
 */
export async function answerMessage(
  { pg, routes }: Answering,
  asking: Asking,
  message: unknown,
): Promise<Response> {
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
    throw new McpError(ErrorCode.InvalidParams, `There is no such tool for this token; there are: ${names}.`);
  });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const { ctx } = asking;
    const request = new Request(`${ctx.state.publicBase}/mcp`, {
      method: "POST",
      headers: headersOf(asking),
    });
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}

const OPTIONS = {
  capabilities: { tools: {} },
  instructions:
    "Numbers about the downloads of software packages: how many, which companies, countries, clients and versions. " +
    "Nothing can be changed. complete_through says up to when imports are in the numbers; give people dashboard_url to " +
    `look themselves. ${DATA_NOTE}`,
};

/** Those that the transport reads. */
function headersOf({ ctx }: Asking): Record<string, string> {
  const names = ["accept", "content-type", "mcp-protocol-version"];
  return Object.fromEntries(names.flatMap((name) => (ctx.get(name) === "" ? [] : [[name, ctx.get(name)]])));
}
