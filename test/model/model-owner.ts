import { connectApi, type ApiClient } from "../../deploy/demo/api-client.js";
import type { WebhookRecord } from "../../schemas/contracts/webhook.js";
import type { FaultWorld } from "../faults/worlds/fault-world.js";
import { openReceiver, type Receiver } from "../support/api/receivers.js";
import { makeOrganization, makePackage, makePixel } from "../support/imports/make-artifacts.js";
import type { Model, ModelArtifact } from "./model.js";

/** An owner whom nobody else knows, and what the model knows of them. */
export interface ModelOwner extends AsyncDisposable {
  name: string;
  /** A client of a process that runs now. */
  readonly api: ApiClient;
  model: Model;
  /** The host of the package of files. */
  host: string;
  webhook: { receiver: Receiver; secret: string };
}

/** Makes an organization with three packages, a pixel and a webhook. */
export async function openModelOwner(world: FaultWorld, name: string): Promise<ModelOwner> {
  const { token } = await world.collector.newAccount(`${name}-ada`);
  const connect = () => connectApi(world.api.url, token);
  const api = connect();
  await makeOrganization(api, name);
  await world.collector.admin("grant-export", name);
  const types = ["other", "docker", "npm"] as const;
  const artifacts: ModelArtifact[] = [];
  for (const libraryType of types) {
    // A name at npm is one owner's.
    const named = { organization: name, name: `${name}-${libraryType}`, libraryType };
    artifacts.push({ ...(await makePackage(api, named)), name: named.name });
  }
  artifacts.push({ ...(await makePixel(api, { owner: name, name: "docs" })), name: "docs" });
  const host = `get.${name}.invalid`;
  const [files] = artifacts;
  await api.post(`/v1/packages/${files?.id}/routes`, {
    templatePath: "/{version}/{channel}",
    outgoingUrl: "",
  });
  await api.post(`/v1/packages/${files?.id}/domains`, { name: host });
  const receiver = await openReceiver();
  const body = { url: receiver.url, event_kinds: ["company-funnel-stage-changed"] };
  const { secret } = await api.post<WebhookRecord & { secret: string }>(`/v2/${name}/webhooks`, body);
  return {
    name,
    host,
    webhook: { receiver, secret },
    model: { artifacts, imports: [], collected: [], stages: new Map(), changes: [] },
    get api() {
      return connect();
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}
