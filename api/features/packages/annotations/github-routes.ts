import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Pool } from "pg";
import { ANNOTATION_SECRET } from "../../../../schemas/contracts/annotation.js";
import { Problem } from "../../../../schemas/problem.js";
import { SERVICE } from "../../../../schemas/contracts/audit-entry.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import { insertAuditEntry } from "../../../base/access/audit-entries.js";
import { ownerFor } from "../../../base/access/authorise.js";
import { lockOwner } from "../../../base/access/owners.js";
import { DEFAULT_QUOTAS, QUOTA_PROBLEMS, type Quotas, requireRoom } from "../../../base/access/quotas.js";
import { readQuery } from "../../../base/http/answers/query-parameters.js";
import { MIB } from "../../../base/http/body-limits.js";
import { parseJson, readBody } from "../../../base/http/middleware/read-json.js";
import { type ApiContext, type PublicRoute, type Route, paramOf, route } from "../../../base/http/route.js";
import type { Sealer } from "../../../base/identity/tokens.js";
import { inTransaction } from "../../../base/postgres/connection.js";
import { type Postgres, query } from "../../../base/postgres/query.js";
import { countAnnotations, insertAnnotation } from "./annotations.js";
import { type Release, readReleaseEvent } from "./release-event.js";

interface GithubDeps {
  pg: Pool;
  sealer: Sealer;
  quotas?: Quotas | undefined;
}

/** The secret that GitHub signs its events with. */
export function annotationSecretRoutes({ pg, sealer }: Pick<GithubDeps, "pg" | "sealer">): Route[] {
  return [
    route({
      method: "POST",
      path: "/v2/:owner/annotation-secret",
      action: "annotations.manage",
      operation: {
        id: "makeAnnotationSecret",
        summary: "Create the secret for GitHub release events",
        description:
          "GitHub signs release events with this secret. Any previous secret stops working immediately.",
        answers: {
          201: {
            description: "The secret. It is shown only once",
            schema: ANNOTATION_SECRET,
            example: { secret: "0f".repeat(32) },
          },
        },
      },
      async handle({ ctx, account, action, param, record }) {
        const secret = randomBytes(32).toString("hex");
        await inTransaction(pg, async (client) => {
          await lockOwner(client, param("owner"));
          const owner = await ownerFor(client, account, param("owner"), action);
          const text = `
            insert into annotation_secrets (owner_id, secret) values ($1, $2)
            on conflict (owner_id) do update set secret = excluded.secret, made_at = now()`;
          await query(client, text, [owner.id, sealer.seal(secret, owner.id)]);
          await record(client, { ownerId: owner.id, target: targetOf(owner), changes: { secret: "made" } });
        });
        ctx.status = 201;
        ctx.body = { secret };
      },
    }),
    route({
      method: "DELETE",
      path: "/v2/:owner/annotation-secret",
      action: "annotations.manage",
      operation: {
        id: "deleteAnnotationSecret",
        summary: "Revoke the secret for GitHub release events",
        answers: {
          204: { description: "Secret revoked. Release events are rejected until a new secret is created" },
        },
      },
      async handle({ ctx, account, action, param, record }) {
        await inTransaction(pg, async (client) => {
          const owner = await ownerFor(client, account, param("owner"), action);
          await query(client, "delete from annotation_secrets where owner_id = $1", [owner.id]);
          const changes = { secret: "ended" };
          await record(client, { ownerId: owner.id, target: targetOf(owner), changes, isRepeatable: true });
        });
        ctx.status = 204;
      },
    }),
  ];
}

function targetOf({ id, name }: { id: string; name: string }) {
  return { kind: "annotation", id, name: `releases of ${name}` } as const;
}

const GITHUB_QUERY = {
  package: {
    schema: { type: "string" },
    description: "Package to attach releases to (id or name). If omitted, releases apply to all packages",
  },
} as const;

/** A release has up to 1,000 files with about 35 fields and 2 KiB each, and notes of 125,000 characters. */
const EVENT_LIMITS = { bytesMax: 5 * MIB, valuesMax: 50_000 };

/** GitHub has no token of ours: its signature takes the token's place. */
export function githubReleaseRoutes({ pg, sealer, quotas = DEFAULT_QUOTAS }: GithubDeps): PublicRoute[] {
  let nobody: Signer | undefined;
  return [
    {
      method: "POST",
      path: "/v2/:owner/annotations/github",
      operation: {
        id: "addGithubRelease",
        tag: "Annotations",
        summary: "Receive a GitHub `release` event",
        description:
          "The request must have a signature in `X-Hub-Signature-256`, created with the owner's secret. " +
          "Each published release is added once, even if GitHub sends the event again. Other events are " +
          "accepted and ignored.",
        query: GITHUB_QUERY,
        headers: {
          "X-Hub-Signature-256": {
            schema: { type: "string" },
            required: true,
            description: "`sha256=<hex>`",
          },
        },
        body: { schema: { type: "object" }, example: { action: "published" }, limits: EVENT_LIMITS },
        answers: {
          201: { description: "Annotation created" },
          204: {
            description:
              "Nothing was added: the event is not a published release, or the release is already known",
          },
        },
        problems: [
          "unauthenticated",
          "not-found",
          "invalid-query",
          "rate-limited",
          "unavailable",
          QUOTA_PROBLEMS.annotations,
        ],
      },
      async handle(ctx) {
        const owner = await signedOwner({ pg, sealer, nobody: (nobody ??= signerOfNobody(sealer)) }, ctx);
        const { package: asked } = readQuery(ctx.query, { query: GITHUB_QUERY });
        const release = isOfReleases(ctx) ? readReleaseEvent(owner.event) : undefined;
        const added = release !== undefined && (await addRelease({ pg, quotas }, { asked, owner, release }));
        ctx.status = added ? 201 : 204;
        if (added) ctx.body = "";
      },
    },
  ];
}

/** GitHub names the kind of its event; who sends one by hand need not. */
function isOfReleases(ctx: ApiContext): boolean {
  return ["", "release"].includes(ctx.get("X-GitHub-Event"));
}

interface SignedOwner {
  id: string;
  name: string;
  event: unknown;
}

interface Signer {
  id: string;
  name: string;
  /** Sealed. */
  secret: Buffer;
}

function signerOfNobody(sealer: Sealer): Signer {
  return { id: NIL_UUID, name: "", secret: sealer.seal(randomBytes(32).toString("hex"), NIL_UUID) };
}

type Signing = Pick<GithubDeps, "pg" | "sealer"> & {
  /** Whose secret nobody knows. */
  nobody: Signer;
};

/**
 * Every refusal is the same and comes after the same work, so that nobody learns which owners there are and which take
 * events.
 */
async function signedOwner({ pg, sealer, nobody }: Signing, ctx: ApiContext): Promise<SignedOwner> {
  const sent = Buffer.from(ctx.get("X-Hub-Signature-256"));
  const { id, name, secret } = (await readSigner(pg, paramOf(ctx, "owner"))) ?? nobody;
  return readBody(ctx, (body) => {
    const wanted = `sha256=${createHmac("sha256", sealer.open(secret, id)).update(body).digest("hex")}`;
    if (sent.length !== wanted.length || !timingSafeEqual(sent, Buffer.from(wanted)))
      throw new Problem(
        "unauthenticated",
        "The signature does not match the secret for release events. Enter the current secret in the " +
          "webhook's settings on GitHub.",
      );
    return { id, name, event: eventOf(body, ctx) };
  });
}

async function readSigner(pg: Postgres, name: string): Promise<Signer | undefined> {
  const text = `
    select o.id, o.name, s.secret from owners o join annotation_secrets s on s.owner_id = o.id
    where o.name_key = lower($1 collate "C")`;
  const [signer] = await query<Signer>(pg, text, [name.includes("\0") ? "" : name]);
  return signer;
}

function eventOf(body: Buffer, ctx: ApiContext): unknown {
  try {
    return parseJson(body, ctx);
  } catch (cause) {
    if (!(cause instanceof Problem) || cause.code !== "malformed-json") throw cause;
    throw new Problem(
      "malformed-json",
      "The event must be JSON. Set the webhook's content type to application/json.",
      {
        cause,
      },
    );
  }
}

interface Adding {
  /** The id or name of a package. */
  asked: string | undefined;
  owner: SignedOwner;
  release: Release;
}

async function addRelease(
  { pg, quotas }: Required<Pick<GithubDeps, "pg">> & { quotas: Quotas },
  { asked, owner: { id: ownerId, name }, release: { key, ...release } }: Adding,
): Promise<boolean> {
  return inTransaction(pg, async (client) => {
    await lockOwner(client, name);
    const packageId = asked === undefined ? null : await packageNamed(client, { ownerId, asked });
    const id = await insertAnnotation(client, { ownerId, packageId, ...release, releaseKey: key });
    if (id === undefined) return false;
    // Without this one, which is taken back where there was no room.
    requireRoom(quotas, "annotations", { name, count: (await countAnnotations(client, ownerId)) - 1 });
    await insertAuditEntry(client, {
      ownerId,
      by: SERVICE,
      action: "annotations.add-releases",
      target: { kind: "annotation", id, name: release.text },
      changes: { date: release.date, ...(packageId !== null && { package_id: packageId }) },
    });
    return true;
  });
}

async function packageNamed(
  pg: Postgres,
  { ownerId, asked }: { ownerId: string; asked: string },
): Promise<string> {
  const text = "select id from packages where owner_id = $1 and (id::text = lower($2) or name = $2) limit 2";
  const found = asked.includes("\0") ? [] : await query<{ id: string }>(pg, text, [ownerId, asked]);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only.id;
  throw new Problem(
    "not-found",
    `${only ? "Several packages have" : "No package has"} the name or id ${asked.slice(0, 100)}. Use the ` +
      "id of a package.",
  );
}
