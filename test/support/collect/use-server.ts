import type { RequestListener } from "node:http";
import { afterAll, beforeAll } from "vitest";
import { startServer, type StartedServer } from "./start-server.js";

/** A server for the tests of a suite: started before the first, closed after the last. */
export function useServer(handle: RequestListener): () => StartedServer {
  let own: StartedServer | undefined;
  beforeAll(async () => void (own = await startServer(handle)));
  afterAll(() => own?.[Symbol.asyncDispose]());
  return () => own as StartedServer;
}
