import { columnName } from "../../../schemas/records/guess-format.js";
import { isSidecarTag } from "../../../schemas/routing/sidecar-files.js";
import { describeValue } from "../clean-text.js";
import { addVariable, LineFields } from "../decode-line.js";
import { error } from "../line-fault.js";
import { idOf } from "./access-log.js";
import { NO_EVENT, type OpenFormat, type Rejected } from "./line-format.js";
import { type Cell, table } from "./table.js";

/**
 * Raw data of Docker Hub's insights: a row for each pull, with no address. A version check is no pull, nor is
 * that of a signature. Where the path
 * names no package the repository does. Source: docs.docker.com/docker-hub/repos/manage/trusted-content/
 * insights-analytics, "Image pulls raw data"
 */
export const dockerDvp: OpenFormat = ({ header, artifactKind }) =>
  table(header, (cell, text, line) => {
    const action = columnName(cell("action").trim());
    if (action === "version_check" || isSidecarTag(tagOf(cell))) return NO_EVENT;
    if (!PULLS.has(action)) return otherAction(cell("action"));
    const fields = new LineFields();
    fields.$unique_id = idOf(text, line);
    fields.$time = cell("timestamp") || cell("action_day");
    if (artifactKind === "any") fields.$package = known(cell("repository")) || undefined;
    fields.$version = tagOf(cell);
    fields.$country = known(cell("country"));
    fields.$user_agent = agentOf(cell);
    for (const name of VARIABLES) if (known(cell(name)) !== "") addVariable(fields, name, cell(name));
    return fields;
  });

/** `Pull by tag` in the reference of the API, `pull_by_tag` in the guide. */
const PULLS: ReadonlySet<string> = new Set(["pull_by_tag", "pull_by_digest"]);

function otherAction(action: string): Rejected {
  const found = describeValue(action, 100);
  return {
    fault: error("invalid-value", `action must be pull_by_tag, pull_by_digest or version_check: ${found}`),
  };
}

/** Of a pull by digest nobody knows the tag. */
function tagOf(cell: Cell): string {
  const tag = known(cell("tag")) || known(cell("reference"));
  return tag.startsWith("sha256:") ? "" : tag;
}

function agentOf(cell: Cell): string {
  const tool = known(cell("user_agent_tool")) || known(cell("user_agent"));
  const version = known(cell("user_agent_version"));
  return version === "" ? tool : `${tool}/${version}`;
}

/** The cloud, the kind of network, the domain and the digest, which nothing else tells of a row without an address. */
const VARIABLES = ["host", "type", "domain", "digest"];

/** Docker writes `null` or `\N` for nothing. */
function known(text: string): string {
  return text === "null" || text === "\\N" ? "" : text;
}
