import { vi } from "vitest";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { callCollect, type CollectCall } from "./collect-client.js";
import { COLLECT_ORGANIZATION, type CollectWorld } from "./collect-world.js";

const SERVED_MS_MAX = 60_000;

interface DockerPackage {
  backendUrl: string;
  publicUrl: string;
}

/** Answers its id when its host serves it. */
export async function newDockerPackage(world: CollectWorld, made: DockerPackage): Promise<string> {
  const id = await newPackage(world, { libraryType: "docker", name: made.publicUrl, ...made });
  const { hostname, pathname } = new URL(made.publicUrl);
  const headers = { "User-Agent": "docker/27.3.1" };
  await untilServed(world, { host: hostname, path: `/v2${pathname}/tags/list`, headers });
  return id;
}

interface PythonPackage {
  name: string;
  domain: string;
  repositoryURL: string;
}

/** Answers its id when its domain serves it. */
export async function newPythonPackage(
  world: CollectWorld,
  { domain, ...made }: PythonPackage,
): Promise<string> {
  const id = await newPackage(world, { libraryType: "pypi", ...made });
  await world.api.post(`/v1/packages/${id}/domains`, { name: domain });
  await untilServed(world, { host: domain, path: "/simple" });
  return id;
}

/** Changes become known in their order: once a package made after it is served, this one is. */
export function newNpmPackage(world: CollectWorld, name: string): Promise<string> {
  return newPackage(world, { libraryType: "npm", name });
}

async function newPackage(world: CollectWorld, made: object): Promise<string> {
  const body = { shortDescription: "For a test", ...made };
  const path = `/v1/organizations/${COLLECT_ORGANIZATION}/packages`;
  return (await world.api.post<PackageV1>(path, body)).uuid;
}

async function untilServed(
  { toolchain }: CollectWorld,
  asked: Pick<CollectCall, "host" | "path" | "headers">,
): Promise<void> {
  const asServed = async () => {
    const { status } = await callCollect(toolchain.endpoints.collect, { method: "HEAD", ...asked });
    if (status >= 400) throw new Error(`${asked.host}${asked.path} is answered with ${status}`);
  };
  await vi.waitFor(asServed, { timeout: SERVED_MS_MAX, interval: 20 });
}
