import type { Pool } from "pg";
import {
  ANNOTATION,
  ANNOTATION_CREATE,
  type AnnotationRecord,
  GRAFANA_ANNOTATIONS,
  GRAFANA_TYPE,
  parseAnnotationCreate,
} from "../../../../schemas/contracts/annotation.js";
import { DAY_MS, RANGE_DAYS_MAX, parseDateRange } from "../../../../schemas/date-range.js";
import { DATE } from "../../../../schemas/formats.js";
import { ownerFor, packageOfOwnerFor } from "../../../base/access/authorise.js";
import { ownedPackageId } from "../../../base/access/owned-package.js";
import { DEFAULT_QUOTAS, type Quotas } from "../../../base/access/quotas.js";
import { bytesTag } from "../../../base/http/answers/headers.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "../../../base/http/answers/paging.js";
import type { Parameters } from "../../../base/http/answers/query-parameters.js";
import { type Resource, findById, toOwner } from "../../../base/http/resource.js";
import { createRoute, deleteRoute } from "../../../base/http/resource-routes.js";
import { type Call, type Route, route } from "../../../base/http/route.js";
import { PACKAGE_PROBLEMS } from "../packages.js";
import {
  countAnnotations,
  deleteAnnotation,
  insertAnnotation,
  listAnnotations,
  readAnnotation,
} from "./annotations.js";

interface AnnotationDeps {
  pg: Pool;
  quotas?: Quotas | undefined;
}

const PATH = "/v2/:owner/annotations";

const LIST_QUERY = {
  startDate: {
    schema: DATE,
    description: "Start of the range (UTC day, inclusive). Requires `endDate`",
  },
  endDate: { schema: DATE, description: "End of the range (UTC day, exclusive)" },
  package: {
    schema: { type: "string" },
    description:
      "Return only annotations of this package (id or name) and annotations that apply to all packages",
  },
  ...PAGE_QUERY,
} as const satisfies Parameters;

export function annotationRoutes({ pg, quotas = DEFAULT_QUOTAS }: AnnotationDeps): Route[] {
  const resource = {
    pg,
    name: "annotation",
    plural: "annotations",
    path: PATH,
    actions: { read: "annotations.read", create: "annotations.manage", delete: "annotations.manage" },
    schema: ANNOTATION,
    example: EXAMPLE,
    parameters: {
      annotation: { schema: { type: "string", format: "uuid" }, description: "Id of the annotation" },
    },
    isTagged: false,
    admit: toOwner(ownerFor),
    find: findById({ name: "annotation", admit: toOwner(ownerFor), read: readAnnotation }),
    recordOf: (annotation) => annotation,
    targetOf: ({ id, text }) => ({ kind: "annotation", id, name: text }),
  } as const satisfies Resource<AnnotationRecord>;
  return [
    route({
      method: "GET",
      path: PATH,
      action: "annotations.read",
      operation: {
        id: "listAnnotations",
        summary: "List annotations",
        description:
          "Omits annotations of packages you are blocked from. In Grafana's format the response is a " +
          "single page of at most 1,000 annotations.",
        query: LIST_QUERY,
        answers: {
          200: {
            ...pageAnswer({
              name: "annotations",
              record: ANNOTATION,
              example: EXAMPLE,
              title: "AnnotationList",
            }),
            others: { [GRAFANA_TYPE]: { schema: GRAFANA_ANNOTATIONS, example: [grafanaOf(EXAMPLE)] } },
          },
        },
        problems: [...PACKAGE_PROBLEMS, "invalid-date", "empty-range", "range-too-long"],
      },
      handle: (call) => answerList(pg, call),
    }),
    createRoute(resource, {
      body: {
        schema: ANNOTATION_CREATE,
        example: { date: "2026-11-02", text: "Version 1.5.0", package: "web" },
      },
      parse: parseAnnotationCreate,
      problems: ["ambiguous-name"],
      quotas,
      count: countAnnotations,
      async insert(client, { call: { account }, owner: { id: ownerId, name: owner }, sent }) {
        const { date, end_date: endDate, text, url, package: idOrName } = sent;
        const packageId =
          idOrName === undefined
            ? null
            : await ownedPackageId(client, { account, ownerId, owner, idOrName, field: "package" });
        return (await insertAnnotation(client, { ownerId, packageId, date, endDate, text, url })) ?? "";
      },
      changesOf: (_, annotation) => changesOf(annotation),
      location: "list",
    }),
    deleteRoute(resource, {
      description: "A deleted release annotation is not created again for the same release.",
      delete: (client, { id }) => deleteAnnotation(client, id),
      changesOf: (annotation) => ({ deleted: true, ...changesOf(annotation) }),
    }),
  ];
}

const EXAMPLE: AnnotationRecord = {
  id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  owner: "acme",
  package_id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
  date: "2026-11-02",
  text: "Version 1.5.0",
  url: "https://github.com/acme/web/releases/tag/v1.5.0",
  kind: "release",
  created_at: "2026-11-02T13:58:26.021037Z",
};

async function answerList(
  pg: Pool,
  { ctx, account, action, query, param }: Call<"annotations.read", typeof LIST_QUERY>,
): Promise<void> {
  const page = pageOf(query);
  const { startDate, endDate, package: idOrName } = query;
  const isRange = startDate !== undefined || endDate !== undefined;
  const range = isRange ? parseDateRange(query, { daysMax: RANGE_DAYS_MAX }) : undefined;
  const { id: ownerId, name: owner } = await ownerFor(pg, account, param("owner"), action);
  const found =
    idOrName === undefined
      ? undefined
      : await packageOfOwnerFor(pg, account, { owner, idOrName }, "packages.read");
  const filter = { range, packageId: found?.id };
  const rows = await listAnnotations(pg, { accountId: account.id, ownerId, page, filter });
  ctx.vary("Accept");
  if (ctx.accepts(["application/json", GRAFANA_TYPE]) !== GRAFANA_TYPE) {
    ctx.body = pageBody(ctx, { name: "annotations", rows, page, record: (each) => each });
    return;
  }
  const shown = Buffer.from(JSON.stringify(rows.slice(0, page.perPage).map(grafanaOf)));
  ctx.set("ETag", bytesTag(shown));
  ctx.body = shown;
  ctx.type = GRAFANA_TYPE;
}

/** Grafana shows the text as HTML, and takes whole days as the time from their first to their last moment. */
function grafanaOf({ date, end_date: end = date, text, url, kind }: AnnotationRecord) {
  const escaped = (plain: string) => plain.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const link = url === undefined ? "" : ` <a href="${escaped(url)}" rel="noopener">${escaped(url)}</a>`;
  return {
    time: Date.parse(date),
    timeEnd: Date.parse(end) + DAY_MS - 1,
    text: escaped(text) + link,
    tags: [kind],
  };
}

/** With its package, whose blocked members see no entry of it. */
function changesOf({ date, package_id }: AnnotationRecord) {
  return { date, ...(package_id !== undefined && { package_id }) };
}
