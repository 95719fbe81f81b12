import type { ArtifactKind } from "../../../schemas/records/artifact.js";
import type { RawChunk } from "../../../schemas/records/raw-chunk.js";
import { isSidecarFile, isSidecarTag } from "../../../schemas/routing/sidecar-files.js";
import { addVariable, LineFields } from "../decode-line.js";
import { NO_EVENT, type OpenFormat } from "./line-format.js";
import { type Cell, table } from "./table.js";

/**
 * The event export of Scarf, 24 columns: id, type, package, pixel, version, time, referer, user_agent, platform,
 * variables, dnt, confidence, endpoint_id, mtc_quota_exceeded and ten that begin with origin_. It has no addresses. An
 * id comes more than once, and is one event. Older exports have no column for the pixel, and its type alone. Source: docs.scarf.sh/data-export, "Export Fields", and table-def.sql of
 * github.com/scarf-sh/scarf-postgres-exporter
 */
export const scarfCsv: OpenFormat = ({ header, artifactKind }) =>
  table(header, (cell) => {
    const kind = cell("type") === "pixel-fetch" || cell("pixel") !== "" ? "pixel" : "package";
    if (artifactKind !== "any" && artifactKind !== kind) return NO_EVENT;
    const variables = new URLSearchParams(cell("variables"));
    if (isSidecarTag(cell("version")) || [...variables.values()].some(isSidecarFile)) return NO_EVENT;
    const fields = new LineFields();
    fields.$unique_id = cell("id") || undefined;
    fields.$time = cell("time") || undefined;
    nameArtifact(fields, { kind, name: cell(kind), artifactKind });
    fields.$type = cell("type");
    fields.$version = cell("version");
    fields.$referrer = cell("referer");
    fields.$user_agent = cell("user_agent");
    fields.$country = cell("origin_country");
    addVariables(fields, { cell, own: variables });
    return fields;
  });

interface Named {
  kind: ArtifactKind;
  name: string;
  artifactKind: RawChunk["artifactKind"];
}

/** A path that names a package takes the rows of packages, whatever they are called there. */
function nameArtifact(fields: LineFields, { kind, name, artifactKind }: Named): void {
  if (artifactKind === "any") fields[kind === "package" ? "$package" : "$pixel"] = name || undefined;
}

/** What its address told, which is not known here any more, and the row's own, which win. */
function addVariables(fields: LineFields, { cell, own }: { cell: Cell; own: URLSearchParams }): void {
  for (const name of KEPT) if (cell(name) !== "") addVariable(fields, name, cell(name));
  for (const [name, value] of own) addVariable(fields, name, value);
}

const KEPT = ["platform", "origin_company", "origin_domain"];
