#!/usr/bin/env bash
# A programmer who wants a client: types and clients for TypeScript and Python are made from the OpenAPI document, and run the
# The first import of the docs. Needs Node, curl and the npm registry; python3 with pip and PyPI for Python's part, which is left out
# aloud without them.
source "$(dirname "${BASH_SOURCE[0]}")/with-service.sh"

step "The service starts"
start_service
create_acme
cat > "$WORK/events.ndjson" <<'END'
{"$time": "2026-11-01T08:00Z", "$unique_id": "pull-1", "$remote_address": "18.66.22.4", "$user_agent": "docker/27.3.1", "$version": "1.4.0"}
{"$time": "2026-11-01T09:30Z", "$unique_id": "pull-2", "$remote_address": "141.113.0.20", "$user_agent": "docker/28.1", "$version": "1.4.0"}
{"$time": "2026-11-01T10:00Z", "$unique_id": "pull-2", "$remote_address": "141.113.0.20", "$user_agent": "docker/28.1", "$version": "1.4.1"}
{"$time": "yesterday", "$unique_id": "pull-3"}
END
export EVENTS=$WORK/events.ndjson

step "TypeScript: types by openapi-typescript, requests by openapi-fetch"
mkdir "$WORK/typescript" && cd "$WORK/typescript"
echo '{"type": "module"}' > package.json
# openapi-typescript needs the compiler of TypeScript 5.
npm install --silent --no-audit --no-fund --ignore-scripts openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3
npx openapi-typescript "$MAINTAINER_URL/openapi.json" -o schema.d.ts
cat > first-import.ts <<'END'
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { env: Record<string, string>; getBuiltinModule(name: string): any };
const { MAINTAINER_URL: baseUrl, MAINTAINER_TOKEN: token, EVENTS } = process.env as Record<string, string>;
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

const made = await client.POST("/v1/organizations/{organization}/packages", {
  params: { path: { organization: "acme" } },
  body: { name: "typed", shortDescription: "The web image", libraryType: "docker", backendUrl: "https://registry.example.org/acme/web" },
});
if (made.error) throw new Error(made.error.message);
const body = process.getBuiltinModule("fs").readFileSync(EVENTS, "utf8");
const started = await client.POST("/v2/packages/{owner}/{package}/import", {
  params: { path: { owner: "acme", package: made.data.uuid } },
  headers: { "Content-Type": "application/x-ndjson" },
  // The document describes a line; the body has several.
  body,
  bodySerializer: (lines: unknown) => lines as string,
} as never);
if (started.error) throw new Error(started.error.message);
for (let isDone = false; !isDone; ) {
  const { data } = await client.GET("/v2/imports/{owner}", { params: { path: { owner: "acme" } } });
  isDone = data?.event_imports[0]?.status === "done";
  await new Promise((resolve) => setTimeout(resolve, 100));
}
const query = { package: made.data.uuid, startDate: "2026-11-01", endDate: "2026-11-02" };
const { data } = await client.GET("/v2/{owner}/stats", { params: { path: { owner: "acme" }, query } });
// Its other format, CSV, is a text.
if (typeof data !== "object") throw new Error("no JSON");
console.log(`downloads=${data.totals.downloads} companies=${data.totals.companies}`);
END
npx tsc --strict --skipLibCheck --target es2022 --module nodenext --lib es2022,dom first-import.ts
expect "TypeScript's first import" "downloads=2 companies=1" "$(node first-import.js)"

step "Python: a client by openapi-python-client"
if ! has python3 || ! python3 -m venv "$WORK/venv" || ! "$WORK/venv/bin/pip" install --quiet --disable-pip-version-check openapi-python-client==0.29.1 ruff==0.14.0; then
  printf 'LEFT OUT: Python, or PyPI, is not here; its client was not made.\n' >&2
  exit 0
fi
cd "$WORK"
PATH=$WORK/venv/bin:$PATH openapi-python-client generate --url "$MAINTAINER_URL/openapi.json" --meta none --output-path maintainer > generate.log 2>&1 \
  || { cat generate.log; fail "the client of Python was not made"; }
cat > first-import.py <<'END'
import os, time, datetime
from maintainer import AuthenticatedClient
from maintainer.api.imports import list_imports
from maintainer.api.packages import create_organization_package
from maintainer.api.statistics import read_statistics
from maintainer.models import PackageUpsertV1

client = AuthenticatedClient(base_url=os.environ["MAINTAINER_URL"], token=os.environ["MAINTAINER_TOKEN"])
package = PackageUpsertV1.from_dict({"name": "pythonic", "shortDescription": "The web image", "libraryType": "docker",
                                     "backendUrl": "https://registry.example.org/acme/web"})
made = create_organization_package.sync("acme", client=client, body=package)
# The generator leaves out bodies of lines: its HTTP client sends them.
with open(os.environ["EVENTS"], "rb") as lines:
    client.get_httpx_client().post(f"/v2/packages/acme/{made.uuid}/import", content=lines.read(),
                                   headers={"Content-Type": "application/x-ndjson"}).raise_for_status()
while list_imports.sync("acme", client=client).event_imports[0].status != "done":
    time.sleep(0.1)
found = read_statistics.sync("acme", client=client, package=str(made.uuid), start_date=datetime.date(2026, 11, 1),
                             end_date=datetime.date(2026, 11, 2))
print(f"downloads={found.totals.downloads} companies={found.totals.companies}")
END
expect "Python's first import" "downloads=2 companies=1" "$("$WORK/venv/bin/python" first-import.py)"

step "Done: $SECONDS s from nothing"
