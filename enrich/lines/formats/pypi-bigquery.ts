import { addVariable, LineFields, type LineObject, parseObject } from "../decode-line.js";
import { idOf } from "./access-log.js";
import { objectIn, textOf } from "./json-log.js";
import { isSidecarFile } from "../../../schemas/routing/sidecar-files.js";
import { NO_EVENT, type OpenFormat } from "./line-format.js";

/**
 * Rows of `bigquery-public-data.pypi.file_downloads` as JSON lines: no addresses, but countries. Where the path names no
 * package the row's project does. Source: packaging.python.org/en/latest/guides/analyzing-pypi-package-downloads
 */
export const pypiBigquery: OpenFormat = ({ artifactKind }) => {
  return (text, line) => {
    const row = parseObject(text);
    const { filename, project, version, type } = objectIn(row?.file);
    if (row === undefined || typeof filename !== "string") return undefined;
    if (isSidecarFile(filename) || isSidecarFile(textOf(row.url))) return NO_EVENT;
    const details = objectIn(row.details);
    const fields = new LineFields();
    fields.$unique_id = idOf(text, line);
    fields.$time = timeOf(row.timestamp);
    if (artifactKind === "any") fields.$package = textOf(project) || textOf(row.project) || undefined;
    fields.$version = textOf(version);
    fields.$country = row.country_code;
    fields.$user_agent = agentOf(details);
    const python = textOf(details.python);
    for (const [name, value] of Object.entries({ file: filename, type, python }))
      if (value !== "" && value !== undefined && value !== null) addVariable(fields, name, value);
    return fields;
  };
};

/**
 * `2026-11-01 08:00:00 UTC` of an extract; of the API seconds such as `1.7934E9`, or microseconds where it was asked for
 * integers (`useInt64Timestamp`).
 */
function timeOf(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/^\d{16}$/.test(value)) return Number(value.slice(0, -3));
  return /^[\d.]+E\+?\d+$/i.test(value) ? Number(value) : value.replace(/ UTC$/, "Z");
}

/** As the installer sent it, as far as the row has it: pip and uv send the details as JSON. */
function agentOf(details: LineObject): string {
  const { installer, implementation, system } = details;
  const product = productOf(installer, "version");
  if (product === "") return "";
  // The API and `bq --format=json` have every value as text.
  const sent = details.ci === "true" ? { ...details, ci: true } : details;
  if (/^(?:pip|uv)\//.test(product)) return `${product} ${JSON.stringify(sent)}`;
  return [product, productOf(implementation, "version"), productOf(system, "release")].join(" ").trimEnd();
}

function productOf(value: unknown, field: "version" | "release"): string {
  const { name, [field]: version } = objectIn(value);
  const text = textOf(version);
  return text === "" ? textOf(name) : `${textOf(name)}/${text}`;
}
