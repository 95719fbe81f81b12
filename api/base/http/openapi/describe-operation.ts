import { ACTIONS, type Action, tagOf } from "../../access/resources.js";
import { BODY_LIMITS, limitsOf } from "../body-limits.js";
import type { Parameter } from "../answers/query-parameters.js";
import type { BodyContent, Operation } from "../route.js";
import {
  type Components,
  type DescribedRoute,
  type DocumentObject,
  describeAnswers,
  isReadOfJson,
  parametersOf,
  templateOf,
  wordedPaths,
} from "./components.js";
import { describeProblems } from "./describe-problems.js";

export function describeOperation(
  route: DescribedRoute & { operation: Operation },
  components: Components,
): DocumentObject {
  const { action, method, operation } = route;
  const { id, summary, body } = operation;
  const tag = operation.tag ?? (action === undefined ? "Service" : tagOf(action));
  const parameters = describeParameters(route);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: describeBody(body, components) }),
    // The operation's own description of a status comes before the generated one.
    responses: {
      ...describeProblems(route, components),
      ...describeAnswers({ method, operation }, components),
    },
    security: action === undefined ? [] : [{ token: [] }],
  };
}

function descriptionOf(route: DescribedRoute & { operation: Operation }): string {
  const [, ...others] = wordedPaths(route);
  const also = others.map((path) => `Also available at \`${templateOf(path)}\`.`);
  return [route.operation.description, accessSentence(route.action), ...also].filter(Boolean).join("\n\n");
}

const WHO = {
  none: "every account",
  member: "members, admins and owners",
  reader: "admins and owners, and to users with at least the permission `member` on the package",
  admin: "admins and owners",
  owner: "owners",
} as const;

const TOKENS: Readonly<Record<string, string>> = { account: "the account's own API token", any: "a token" };

function accessSentence(action: Action | undefined): string {
  if (action === undefined) return "No token is required.";
  const { least, scope } = ACTIONS[action];
  return `Requires ${TOKENS[scope] ?? `a token with the scope \`${scope}\``}. Available to ${WHO[least]}.`;
}

function describeParameters({
  method,
  path,
  operation,
}: DescribedRoute & { operation: Operation }): DocumentObject[] {
  const { path: named = {}, query = {}, headers = {}, problems = [] } = operation;
  const inPath = parametersOf(wordedPaths({ path })[0]).map(
    (name) => [name, named[name] ?? textParameter(name)] as const,
  );
  const conditions = {
    ...(problems.includes("precondition-failed") && { "If-Match": IF_MATCH }),
    ...(isReadOfJson(method, operation) && { "If-None-Match": IF_NONE_MATCH }),
  };
  return [
    ...inPath.map(([name, described]) => parameter("path", name, { ...described, required: true })),
    ...Object.entries(query).map(([name, described]) => parameter("query", name, described)),
    ...Object.entries({ ...conditions, ...headers }).map(([name, described]) =>
      parameter("header", name, described),
    ),
  ];
}

function textParameter(name: string): Parameter {
  const example = EXAMPLES[name];
  return {
    schema: { type: "string", minLength: 1 },
    description: "Percent-encoded name",
    ...(example && { example }),
  };
}

const EXAMPLES: Readonly<Record<string, string>> = {
  organization: "acme",
  owner: "acme",
  package: "web",
  username: "ada",
};

const IF_MATCH: Parameter = {
  schema: { type: "string" },
  description:
    "`ETag` values that you read earlier. If the record has changed since then, nothing is changed and you get 412",
};

const IF_NONE_MATCH: Parameter = {
  schema: { type: "string" },
  description: "`ETag` of an earlier response. You get 304 if nothing has changed",
};

const JSON_ONLY = ["application/json"];

function parameter(
  place: "path" | "query" | "header",
  name: string,
  { schema, sentence: _, allows: __, ...rest }: Parameter,
): DocumentObject {
  return { name, in: place, ...rest, schema };
}

function describeBody(body: BodyContent, components: Components) {
  const { schema, example, types = JSON_ONLY, limits } = body;
  const content = { schema: components.schema(schema), example };
  const description = limits ? `At most ${limitsOf({ ...BODY_LIMITS, ...limits })}.` : body.description;
  return {
    required: true,
    ...(description && { description }),
    content: Object.fromEntries(types.map((type) => [type, content])),
  };
}
