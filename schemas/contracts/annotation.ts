import type { FromSchema } from "json-schema-to-ts";
import { DATE, TIMESTAMP, isHttpUrl, titledObject } from "../formats.js";
import type { FieldFault } from "../problem.js";
import { compileBody } from "../validate.js";

/** A note is made by people, a release by an event of GitHub or a registry. */
export const ANNOTATION_KINDS = ["note", "release"] as const;
export type AnnotationKind = (typeof ANNOTATION_KINDS)[number];

export const ANNOTATION_TEXT_MAX = 200;
export const ANNOTATION_URL_MAX = 2_000;

const TEXT = { type: "string", format: "line", minLength: 1, maxLength: ANNOTATION_TEXT_MAX } as const;
const LAST_DAY = { ...DATE, description: "Last day, for annotations that span several days" } as const;

export const ANNOTATION = titledObject("Annotation", ["id", "owner", "date", "text", "kind", "created_at"], {
  id: { type: "string", format: "uuid" },
  owner: { type: "string" },
  package_id: {
    type: "string",
    format: "uuid",
    description: "Id of the package. Absent if the annotation applies to all packages",
  },
  date: DATE,
  end_date: LAST_DAY,
  text: TEXT,
  url: { type: "string", format: "uri" },
  kind: { type: "string", enum: ANNOTATION_KINDS },
  created_at: TIMESTAMP,
});
/** What happened on a day, such as a release: shown on charts. */
export type AnnotationRecord = FromSchema<typeof ANNOTATION>;

const CREATE = titledObject("AnnotationCreate", ["date", "text"], {
  date: DATE,
  end_date: LAST_DAY,
  text: TEXT,
  url: { type: "string", format: "text", maxLength: ANNOTATION_URL_MAX, description: "An http or https URL" },
  package: {
    type: "string",
    minLength: 1,
    maxLength: 256,
    description: "Id or name of a package of the owner. All packages if omitted",
  },
});
export const ANNOTATION_CREATE = CREATE;
export type AnnotationCreate = FromSchema<typeof ANNOTATION_CREATE>;

export const parseAnnotationCreate = compileBody<AnnotationCreate>(CREATE, ({ date, end_date: end, url }) => {
  const faults: FieldFault[] = [];
  if (date !== undefined && end !== undefined && end < date)
    faults.push({ path: "/end_date", message: "must not be before date" });
  if (url !== undefined && !isHttpUrl(url))
    faults.push({ path: "/url", message: "must be a URL that begins with http:// or https://" });
  return faults;
});

export const ANNOTATION_SECRET = titledObject("AnnotationSecret", ["secret"], {
  secret: {
    type: "string",
    description: "Enter this value in the field Secret on GitHub. It is shown only once",
  },
});

/** The list as Grafana draws annotations: times in milliseconds. */
export const GRAFANA_TYPE = "application/vnd.grafana.annotations+json";
export const GRAFANA_ANNOTATIONS = {
  type: "array",
  items: titledObject("GrafanaAnnotation", ["time", "timeEnd", "text", "tags"], {
    time: { type: "integer" },
    timeEnd: { type: "integer" },
    text: { type: "string", description: "Text of the annotation, with HTML escaped" },
    tags: { type: "array", items: { type: "string" } },
  }),
} as const;
