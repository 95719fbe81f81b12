/** The answer to a request of the protocol. */
export interface RpcAnswer {
  status: number;
  body?: unknown;
}

export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  other: -32_000,
};

/** JSON-RPC 2.0, 5.1: the id is null where that of the request is not known. */
export function rpcError(
  code: keyof typeof RPC_CODES,
  message: string,
  { status = 400, id = null }: { status?: number; id?: string | number | null | undefined } = {},
): RpcAnswer {
  return { status, body: { jsonrpc: "2.0", id, error: { code: RPC_CODES[code], message } } };
}
