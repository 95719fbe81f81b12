import type { AnswerContent, Operation, Parameter } from "../operation.js";
import { type Components, type DocumentObject, isReadOfJson } from "./components.js";

/** The success answers by status, and the 304 of a read. */
export function describeAnswers(
  { method, operation }: { method: string; operation: Operation },
  components: Components,
): DocumentObject {
  const isRead = isReadOfJson(method, operation);
  const described = Object.entries(operation.answers).map(([status, answer]) => {
    const headers = { ...usualHeaders({ status: Number(status), isRead, answer }), ...answer.headers };
    return [status, describeAnswer({ ...answer, headers }, components)] as const;
  });
  const unchanged = { description: "What the caller has is still the same", headers: { ETag: ENTITY_TAG } };
  return {
    ...Object.fromEntries(described),
    ...(isRead && { 304: components.response("NotModified", () => describeAnswer(unchanged, components)) }),
  };
}

export const REQUEST_ID: Parameter = {
  schema: { type: "string" },
  required: true,
  description: "Names the request, also in the server's log: the caller's own, or a fresh one",
};

const ENTITY_TAG: Parameter = {
  schema: { type: "string" },
  description: "Another one whenever the state is another, for `If-None-Match` and `If-Match`",
};

const LOCATION: Parameter = {
  schema: { type: "string", format: "uri-reference" },
  description: "Where what was made can be read, from the API's root",
};

function usualHeaders({
  status,
  isRead,
  answer,
}: {
  status: number;
  isRead: boolean;
  answer: AnswerContent;
}) {
  return {
    ...(status === 200 && isRead && { ETag: { ...ENTITY_TAG, required: true } }),
    ...([200, 201].includes(status) && !isRead && answer.schema && !answer.types && { ETag: ENTITY_TAG }),
    ...(status === 201 && { Location: LOCATION }),
  };
}

/** A response object of OpenAPI. */
function describeAnswer(
  { description, schema, example, types = ["application/json"], headers = {}, others = {} }: AnswerContent,
  components: Components,
): DocumentObject {
  const named = Object.entries({ "X-Request-Id": REQUEST_ID, ...headers });
  const content = schema && { schema: components.schema(schema), ...(example !== undefined && { example }) };
  return {
    description,
    headers: Object.fromEntries(
      named.map(([name, header]) => [name, describeHeader(name, header, components)]),
    ),
    ...(content && {
      content: {
        ...Object.fromEntries(types.map((type) => [type, content])),
        ...Object.fromEntries(
          Object.entries(others).map(([type, other]) => [
            type,
            { ...other, schema: components.schema(other.schema) },
          ]),
        ),
      },
    }),
  };
}

/** Headers that most answers have become components. `ETag` is one of two. */
export function describeHeader(name: string, header: Parameter, components: Components): DocumentObject {
  const shared = [REQUEST_ID, ENTITY_TAG, LOCATION].includes(header);
  return shared ? components.header(name, { ...header }) : { ...header };
}
