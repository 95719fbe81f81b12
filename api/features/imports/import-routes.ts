import type { Pool } from "pg";
import { assertFormat } from "../../../ingest/import/assert-format.js";
import { openBody } from "../../../ingest/import/open-body.js";
import { type ActiveUploads, countArrival, receiptClock } from "../../../ingest/import/active-uploads.js";
import { isKnownLarge, receiveImport, type UntilRoom } from "../../../ingest/import/receive-import.js";
import { SharedCount } from "../../../schemas/async/wake-up.js";
import type { Codec } from "../../../schemas/records/raw-chunk.js";
import type { EventLog } from "../../../schemas/records/event-log.js";
import { Problem } from "../../../schemas/problem.js";
import { type ApiListener, NO_LISTENER } from "../../base/http/api-listener.js";
import { ActiveDryRuns, type CheckLines, dryRun, openLineCheck } from "./dry-run.js";
import { readingBody } from "./reading-body.js";
import { START_QUERY, startOperation } from "./import-operations.js";
import { importOf } from "./import-of.js";
import { ownerFor, packageOfOwnerFor } from "../../base/access/authorise.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  PIXEL_PATH,
  packageOnPath,
} from "../packages/packages.js";
import { pixelFor } from "../packages/pixels.js";
import { openArtifactResolver } from "./artifact-resolver.js";
import { type ApiContext, type Call, type Route, route } from "../../base/http/route.js";
import type { Account } from "../../base/access/access.js";
import type { Action } from "../../base/access/resources.js";
import type { Changed } from "../../base/access/audit-entries.js";
import { type ImportKey, type NewImport, groupStarts } from "./start-imports.js";
import { insertImport } from "./imports.js";
import { type AskedFormat, lineFormatOf, querySuffix } from "./asked-format.js";
import { openRightCheck } from "./require-right.js";
import { uploadStore } from "./uploads.js";

export interface ImportRoutesDeps {
  pg: Pool;
  /** For uploads, so that other requests cannot take all connections; `pg` by default. */
  uploadsPg?: Pool;
  eventLog: EventLog;
  active: ActiveUploads;
  /** Imports that are about to append their first lines, for enrichment in the same process. */
  arriving?: SharedCount;
  /** Compresses the chunks of the event log; none by default. */
  codec?: Codec;
  now?: () => number;
  /** The limit of a body after decompression; 20 GiB by default. */
  bodyBytesMax?: number;
  /** How long a sender may pause; two minutes by default. */
  idleMsMax?: number;
  /** Waits while the owner has too much in the log; see `awaitRoom`. */
  untilRoom?: UntilRoom;
  /** Waits between chunks while there are other requests; see `throttleOnLag`. */
  throttle?: () => Promise<void>;
  /** Checks the lines of dry runs; on the calling thread by default. */
  checkLines?: CheckLines;
  listener?: Pick<ApiListener, "onImportBytes" | "onImportEnded">;
}

/** The target of the import, with its name for the audit log. */
interface Start extends NewImport {
  name: string;
  /** With the target's id and the owner's name as its owner spelled it. */
  path: string;
}

type StartDeps = ImportRoutesDeps & {
  dryRuns: ActiveDryRuns;
  checkLines: CheckLines;
  arriving: SharedCount;
  uploads: ReturnType<typeof uploadStore>;
  start: ReturnType<typeof groupStarts>;
};

export function importRoutes(dependencies: ImportRoutesDeps): Route[] {
  const { pg } = dependencies;
  const deps = startDeps(dependencies);
  return [
    route({
      method: "POST",
      path: "/v2/packages/:owner/:package/import",
      action: "packages.import",
      operation: {
        ...startOperation({
          id: "importIntoPackage",
          summary: "Import events of a package",
          query: { ...PACKAGE_QUERY, ...START_QUERY },
          problems: PACKAGE_PROBLEMS,
        }),
        path: PACKAGE_PATH,
      },
      async handle(call) {
        const { account, action } = call;
        const row = await packageOfOwnerFor(pg, account, packageOnPath(call), action);
        const { ownerId, owner, id, name } = row;
        const target = { ownerId, ...startedBy(account), artifactKind: "package", artifactId: id } as const;
        const path = `/v2/packages/${owner}/${id}/import`;
        await startImport(call, { ...target, name, path }, deps);
      },
    }),
    route({
      method: "POST",
      path: "/v2/pixels/:owner/:pixel/import",
      action: "pixels.import",
      operation: {
        ...startOperation({
          id: "importIntoPixel",
          summary: "Import events of a pixel",
          query: START_QUERY,
          problems: PACKAGE_PROBLEMS,
        }),
        path: PIXEL_PATH,
      },
      async handle(call) {
        const { account, action, param } = call;
        const at = { owner: param("owner"), idOrName: param("pixel"), action };
        const { ownerId, owner, id, name } = await pixelFor(pg, account, at);
        const target = { ownerId, ...startedBy(account), artifactKind: "pixel", artifactId: id } as const;
        const path = `/v2/pixels/${owner}/${id}/import`;
        await startImport(call, { ...target, name, path }, deps);
      },
    }),
    route({
      method: "POST",
      path: "/v2/:owner/import",
      action: "imports.start",
      operation: startOperation({
        id: "importIntoOwner",
        summary: "Import events of several packages and pixels",
        query: START_QUERY,
      }),
      async handle(call) {
        const { account, action, param } = call;
        const { id: ownerId, name } = await ownerFor(pg, account, param("owner"), action);
        const target = { ownerId, ...startedBy(account), artifactKind: "any", artifactId: "" } as const;
        await startImport(call, { ...target, name, path: `/v2/${name}/import` }, deps);
      },
    }),
  ];
}

function startDeps(dependencies: ImportRoutesDeps): StartDeps {
  const { pg, uploadsPg = pg, listener = NO_LISTENER } = dependencies;
  return {
    checkLines: openLineCheck(openArtifactResolver(pg)),
    arriving: new SharedCount(),
    ...dependencies,
    dryRuns: new ActiveDryRuns(),
    uploads: uploadStore(uploadsPg, () => listener.onImportEnded("interrupted")),
    start: groupStarts(pg),
  };
}

function startedBy({ id, limited }: Account): Pick<NewImport, "accountId" | "tokenName"> {
  return { accountId: id, tokenName: limited?.name };
}

/**
 * Answers once the body is durable, or without reading it if the key is repeated. One that breaks off is aborted.
 * The body is asked for once the import counts among the owner's active ones.
 */
async function startImport(
  { ctx, action, query, auditEntry }: Call<Action, typeof START_QUERY>,
  { name, path, ...target }: Start,
  deps: StartDeps,
): Promise<void> {
  const { pg, uploadsPg = pg, uploads, start, eventLog, codec, active } = deps;
  const { bodyBytesMax, idleMsMax, throttle, untilRoom } = deps;
  const { listener = NO_LISTENER } = deps;
  const asked = lineFormatOf(query, target.artifactKind);
  const requireRight = openRightCheck(uploadsPg, ctx.state.requireCaller, { ...target, action, name });
  const contentEncoding = ctx.get("Content-Encoding");
  const received = { bytes: 0, bytesUnpacked: 0, lines: 0, stamp: 0, logEnds: [] };
  const onReceived = (bytes: number) => void (received.bytes += bytes);
  const opened = openBody(ctx.req, { contentEncoding, bytesMax: bodyBytesMax, onReceived });
  const lines = assertFormat(opened, { ...asked, idleMsMax });
  const body = counted(lines, (bytes) => {
    received.bytesUnpacked += bytes;
    listener.onImportBytes(bytes);
  });
  if (query.dryRun) return answerDryRun(ctx, { body, target: { ...target, ...asked } }, deps);
  const isLarge = isKnownLarge({ contentLength: ctx.get("Content-Length"), contentEncoding });
  using arrival = isLarge ? undefined : countArrival(deps.arriving);
  const started = await insertImport(
    pg,
    { ...target, fileName: query.name },
    {
      idempotency: keyOf(ctx, { ownerId: target.ownerId, path: path + querySuffix(asked) }),
      start,
      audit: (id) => auditEntry(startOf({ ...target, name, id })),
    },
  );
  const { id } = started;
  if (started.repeated) {
    ctx.body = await importOf(uploadsPg, { ownerId: target.ownerId, id });
    return;
  }
  ctx.state.log.info({ importId: id, ownerId: target.ownerId }, "import started");
  const now = receiptClock(started.stamp);
  const limits = { idleMsMax, throttle, untilRoom, isLarge, arrival, requireRight };
  const upload = { log: eventLog, codec, uploads, active, now, received, ...limits };
  ctx.body = await readingBody(receiveImport(body, { ...target, ...asked, importId: id }, upload));
}

async function* counted(
  body: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const part of body) {
    onBytes(part.length);
    yield part;
  }
}

function startOf({
  ownerId,
  id,
  name,
  artifactKind,
  artifactId,
}: NewImport & { name: string; id: string }): Changed {
  const changes = artifactKind === "any" ? {} : { [`${artifactKind}_id`]: artifactId };
  return { ownerId, target: { kind: "import", id, name }, changes };
}

async function answerDryRun(
  ctx: ApiContext,
  { body, target }: { body: AsyncIterable<Buffer>; target: NewImport & AskedFormat },
  { dryRuns, checkLines, idleMsMax, throttle, now = Date.now }: StartDeps,
): Promise<void> {
  using _turn = dryRuns.open(target);
  const { left } = ctx.state;
  ctx.body = await readingBody(dryRun(body, target, { checkLines, now, idleMsMax, throttle, left }));
}

const KEY_LENGTH_MAX = 255;

function keyOf(ctx: ApiContext, { ownerId, path }: Omit<ImportKey, "key">): ImportKey | undefined {
  const key = ctx.get("Idempotency-Key");
  if (key === "") return undefined;
  if (key.length <= KEY_LENGTH_MAX) return { ownerId, key, path };
  throw new Problem("invalid-query", `Idempotency-Key must have at most ${KEY_LENGTH_MAX} characters.`);
}
