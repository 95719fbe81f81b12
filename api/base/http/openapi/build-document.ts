import {
  Components,
  type DescribedRoute,
  type DocumentObject,
  templateOf,
  wordedPaths,
} from "./components.js";
import { describeOperation } from "./describe-operation.js";
import { BODY_LIMITS, limitsOf } from "../body-limits.js";
import {
  WEBHOOK_EVENTS,
  WEBHOOK_EVENT_KINDS,
  exampleEvent,
  webhookEventSchema,
} from "../../../../schemas/contracts/webhook-event.js";

export interface OpenApiDocument extends DocumentObject {
  openapi: string;
  info: DocumentObject;
  paths: Record<string, Record<string, DocumentObject>>;
  webhooks: DocumentObject;
  components: DocumentObject;
}

interface DocumentFacts {
  version: string;
  publicUrl?: string | undefined;
}

/** Its schemas are the objects that validate requests. Throws if two routes contradict each other. */
export function buildDocument(
  routes: readonly DescribedRoute[],
  { version, publicUrl }: DocumentFacts,
): OpenApiDocument {
  const components = new Components();
  const paths: OpenApiDocument["paths"] = {};
  const ids = new Set<string>();
  for (const route of routes) {
    const { id } = route.operation;
    if (ids.has(id)) throw new Error(`two operations have the id ${id}`);
    ids.add(id);
    const operations = (paths[sameTemplate(Object.keys(paths), templateOf(wordedPaths(route)[0]))] ??= {});
    operations[route.method.toLowerCase()] = describeOperation(route, components);
  }
  return {
    openapi: "3.1.0",
    info: { ...INFO, version },
    // Else relative to the document's own address, so that it is valid below any prefix of a proxy.
    servers: [{ url: publicUrl ?? "." }],
    tags: tagsOf(paths),
    paths,
    webhooks: describeWebhooks(components),
    components: { ...components.described(), securitySchemes: { token: TOKEN } },
  };
}

const INFO = {
  title: "Maintainer Toolchain",
  summary: "See who uses your packages.",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  description: `Import downloads or collect them live, and read exact daily breakdowns.

- Every error is \`{"code", "message"}\`; a rejected body adds \`errors\`, one entry for each problem.
- Every response has an \`X-Request-Id\`, which is also in the server's log and in the audit log. If you send an \`X-Request-Id\`, it is recorded in the server's log only.
- HEAD works wherever GET does. Methods that a path does not support get a 405 with \`Allow\`.
- JSON responses have an \`ETag\`: with \`If-None-Match\` you get 304 if nothing has changed, and with \`If-Match\` an update succeeds only if the record has not changed since you read it.
- Names in paths are percent-encoded and may contain \`/\`.
- JSON bodies are read as JSON whatever the \`Content-Type\`. Their limit is ${limitsOf(BODY_LIMITS)} unless the operation states another one.
- In the paths of pixels, \`tracking-pixels\` is accepted in place of \`pixels\`.`,
};

const TOKEN = {
  type: "http",
  scheme: "bearer",
  description:
    "The API token of your account, or one of its access tokens, which can be limited to scopes. Find " +
    "the API token on the dashboard's [Account](dashboard/account) page; `maintainer-toolchain admin " +
    "create-account` also prints it once. This page stores the token in your browser until you log out " +
    "here.",
};

/** OpenAPI forbids `/a/{x}` and `/a/{y}` in one document: they are the same path. */
function sameTemplate(known: readonly string[], template: string): string {
  const shape = (path: string) => path.replace(/\{[^}]*\}/g, "{}");
  const other = known.find((each) => each !== template && shape(each) === shape(template));
  if (other === undefined) return template;
  throw new Error(`${template} and ${other} are the same path: give their parameters the same names`);
}

function tagsOf(paths: OpenApiDocument["paths"]): DocumentObject[] {
  const used = Object.values(paths).flatMap((operations) =>
    Object.values(operations).flatMap((operation) => operation["tags"] as string[]),
  );
  const names = [...new Set(used)];
  const others = names.filter((name) => !FIRST_TAGS.includes(name) && name !== LAST_TAG);
  const sorted = [...FIRST_TAGS, ...others, LAST_TAG].filter((name) => names.includes(name));
  return sorted.map((name) => ({ name }));
}

const FIRST_TAGS = ["Packages", "Imports", "Exports", "Statistics"];
const LAST_TAG = "Service";

function describeWebhooks(components: Components): DocumentObject {
  const described = WEBHOOK_EVENT_KINDS.map((kind) => [
    kind,
    {
      post: {
        tags: ["Webhooks"],
        summary: WEBHOOK_EVENTS[kind].when,
        parameters: [SIGNATURE],
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: components.schema(webhookEventSchema(kind)),
              example: exampleEvent(kind),
            },
          },
        },
        responses: { "2XX": { description: "The event was received. Respond within 5 s" } },
        security: [],
      },
    },
  ]);
  return Object.fromEntries(described) as DocumentObject;
}

const SIGNATURE = {
  name: "X-Service-Signature",
  in: "header",
  description:
    "`t=<UNIX time>,v1=<hex>`: HMAC-SHA256 of the time, a dot and the body, with the webhook's secret",
  required: true,
  schema: { type: "string" },
};
