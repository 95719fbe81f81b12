import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { ImagePulls } from "../../../ingest/collect/docker/answer-docker.js";
import { createPullCounter } from "../../../ingest/collect/docker/count-pulls.js";
import type { RegistryRequest } from "../../../ingest/collect/docker/registry-client.js";

export interface RegistryReply {
  status?: number;
  headers?: IncomingHttpHeaders;
  body?: string;
}

export interface FakeRegistries extends ImagePulls {
  asked: RegistryRequest[];
  failures: unknown[];
}

/** Registries in memory that all answer alike; an Error is a connection that fails. */
export function fakeRegistries(answer: () => RegistryReply | Error = () => ({})): FakeRegistries {
  const asked: RegistryRequest[] = [];
  const failures: unknown[] = [];
  const ask = async (request: RegistryRequest) => {
    asked.push(request);
    const answered = answer();
    if (answered instanceof Error) throw answered;
    const { status = 200, headers = {}, body = "" } = answered;
    const values: Record<string, string[]> = {};
    for (const [name, value = []] of Object.entries(headers)) values[name] = [value].flat();
    return { status, headers: values, body: Readable.from([Buffer.from(body)]) };
  };
  return {
    asked,
    failures,
    registries: { ask, [Symbol.dispose]: () => undefined },
    counter: createPullCounter({ now: () => 0 }),
    clientOf: (address) => address,
    via: "1.1 collector",
    onFailure: (error) => failures.push(error),
  };
}
