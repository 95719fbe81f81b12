import type { CollectReply } from "./collect-client.js";
import { digestOf } from "./image-registry.js";

/** A client's requests, in the order in which it was seen to send them, for machines that do not have it. */
export interface ReplayedClient {
  name: string;
  userAgent: string;
  /** Whether it logs in at the host that it is redirected to. Go's HTTP client takes no credentials there. */
  followsWithCredentials: boolean;
  pull: (pull: ReplayedPull, reference: string) => Promise<void>;
}

/** Logs in before all else, then asks for the reference, and for the manifest of the platform out of an index. */
async function pullByReference(pull: ReplayedPull, reference: string): Promise<void> {
  await pull.logIn("GET", "/v2/");
  await pull.finish(await pull.manifest("GET", reference));
}

/** Versions are those that were watched, with a registry that wants a token. podman pulls by the library of buildah. */
export const REPLAYED_CLIENTS: readonly ReplayedClient[] = [
  ["crane", "crane/v0.22.1 go-containerregistry/v0.22.1"] as const,
  ["skopeo", "skopeo/1.9.3"] as const,
  ["buildah", "Buildah/1.28.2"] as const,
  ["podman", "libpod/4.3.1"] as const,
]
  .map(([name, userAgent]): ReplayedClient => ({
    name,
    userAgent,
    followsWithCredentials: false,
    pull: pullByReference,
  }))
  .concat([
    {
      name: "containerd",
      userAgent: "containerd/1.6.20",
      followsWithCredentials: true,
      async pull(pull, reference) {
        await pull.logIn("HEAD", pull.pathOf(reference));
        const { digest } = await pull.manifest("HEAD", reference);
        await pull.logIn("GET", pull.pathOf(digest));
        await pull.finish(await pull.manifest("GET", digest));
      },
    },
    {
      name: "docker",
      userAgent: "docker/20.10.24 go/go1.19.8 os/linux arch/amd64 UpstreamClient(Docker-Client/28.2.2)",
      followsWithCredentials: true,
      async pull(pull, reference) {
        await pull.logIn("GET", "/v2/");
        const isDigest = reference.includes(":");
        const { digest } = isDigest ? { digest: reference } : await pull.manifest("HEAD", reference);
        await pull.finish(await pull.manifest("GET", digest));
      },
    },
  ]);

/** Programs that look at a tag, and pull nothing: versions and requests as their sources have them. */
export const LOOKING_CLIENTS: readonly {
  name: string;
  userAgent: string;
  look: (pull: ReplayedPull, tag: string) => Promise<unknown>;
}[] = [
  {
    name: "cosign",
    userAgent: "cosign/v2.4.1 (linux; amd64)",
    async look(pull, tag) {
      const { digest } = await pull.manifest("HEAD", tag);
      for (const kind of ["sig", "att", "sbom"])
        await pull.manifest("GET", `${digest.replace(":", "-")}.${kind}`);
    },
  },
  {
    name: "notation",
    userAgent: "notation/1.2.0",
    async look(pull, tag) {
      const { digest } = await pull.manifest("HEAD", tag);
      await pull.manifest("GET", await pull.referrerOf(digest));
    },
  },
  ...["RenovateBot/39.42.4 (https://github.com/renovatebot/renovate)", "diun/4.28.0 go/1.22.5 Linux"].map(
    (userAgent) => ({
      name: /^\w+/.exec(userAgent)?.[0] ?? "",
      userAgent,
      look: (pull: ReplayedPull, tag: string) => pull.manifest("HEAD", tag),
    }),
  ),
];

interface PullOptions {
  client: Pick<ReplayedClient, "userAgent" | "followsWithCredentials">;
  /** The image. */
  name: string;
  /** Asks the collector, in the name of the image's host, and follows nothing. */
  call: (asked: { method: string; path: string; headers: Record<string, string> }) => Promise<CollectReply>;
}

interface Received {
  status: number;
  digest: string;
  challenge: string;
  bytes: Buffer;
}

interface Manifest {
  manifests?: { digest: string }[];
  config?: { digest: string };
  layers?: { digest: string }[];
}

/** One pull of a client. Fails when an answer is not what the client would take. */
export class ReplayedPull {
  private token: string | undefined;

  constructor(private readonly options: PullOptions) {}

  pathOf(reference: string): string {
    return `/v2/${this.options.name}/manifests/${reference}`;
  }

  /** Asks without credentials, and gets a token where the refusal says so. */
  async logIn(method: string, path: string): Promise<void> {
    this.token = undefined;
    const { status, challenge } = await this.ask(method, path);
    const realm = /realm="([^"]+)"/.exec(challenge)?.[1];
    if (status !== 401 || realm === undefined)
      throw new Error(`${method} ${path} is answered with ${status}`);
    this.token = ((await (await fetch(realm)).json()) as { token: string }).token;
  }

  async manifest(method: string, reference: string): Promise<Received> {
    const got = await this.ask(method, this.pathOf(reference));
    if (got.status !== 200) throw new Error(`${method} ${reference} is answered with ${got.status}`);
    return got;
  }

  /** The digest of the first manifest that refers to this one. */
  async referrerOf(digest: string): Promise<string> {
    const { bytes } = await this.ask("GET", `/v2/${this.options.name}/referrers/${digest}`);
    return (JSON.parse(bytes.toString()) as Manifest).manifests?.[0]?.digest ?? "";
  }

  /** Gets the manifest of the platform, if the first one is an index, and the blobs, each checked. */
  async finish({ bytes }: Received): Promise<void> {
    const first = JSON.parse(bytes.toString()) as Manifest;
    const platform = first.manifests?.[0]?.digest;
    const manifest =
      platform === undefined
        ? first
        : (JSON.parse((await this.manifest("GET", platform)).bytes.toString()) as Manifest);
    for (const { digest } of [manifest.config ?? { digest: "" }, ...(manifest.layers ?? [])]) {
      const blob = await this.ask("GET", `/v2/${this.options.name}/blobs/${digest}`);
      if (digestOf(blob.bytes) !== digest) throw new Error(`blob ${digest} is answered with ${blob.status}`);
    }
  }

  private async ask(method: string, path: string): Promise<Received> {
    const { client, call } = this.options;
    const agent = { "User-Agent": client.userAgent };
    const credentials: Record<string, string> =
      this.token === undefined ? {} : { Authorization: `Bearer ${this.token}` };
    const sent = client.followsWithCredentials ? agent : { ...agent, ...credentials };
    const reply = await call({ method, path, headers: sent });
    const { location, "docker-content-digest": digest, "www-authenticate": challenge } = reply.headers;
    if (location === undefined)
      return { status: reply.status, digest: String(digest), challenge: challenge ?? "", bytes: reply.body };
    const headers = client.followsWithCredentials ? { ...agent, ...credentials } : agent;
    const answer = await fetch(location, { method, headers });
    return {
      status: answer.status,
      digest: answer.headers.get("docker-content-digest") ?? "",
      challenge: answer.headers.get("www-authenticate") ?? "",
      bytes: Buffer.from(await answer.arrayBuffer()),
    };
  }
}
