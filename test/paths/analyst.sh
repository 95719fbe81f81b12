#!/usr/bin/env bash
# An analyst with DuckDB: reads a day of aggregates as Parquet straight from the URL, and compares with the NDJSON.
# Needs Node, curl, python3 with pip. DuckDB comes from PyPI, with its extension that reads URLs.
source "$(dirname "${BASH_SOURCE[0]}")/with-service.sh"
has python3 || fail "python3 is not installed"

step "The service starts, and somebody imports a day"
start_service
create_acme
for name in web tool; do
  api /v1/organizations/acme/packages -d '{"name": "'$name'", "shortDescription": "'$name'"}' > /dev/null
  node -e '
    const countries = ["18.66.22.4", "141.113.0.20", "41.182.0.1"]; // the last one is in Namibia
    for (let n = 0; n < 3000; n++) console.log(JSON.stringify({
      $time: `2026-11-01T${String(n % 24).padStart(2, "0")}:00Z`, $unique_id: `d-${n}`, $remote_address: countries[n % 3],
      $user_agent: "curl/8.5.0", version: ["1.1", "1.10"][n % 2] }));' > "$WORK/$name.ndjson"
  npx maintainer-toolchain import "$WORK/$name.ndjson" --to "acme/$name"
done

step "DuckDB, in an environment of its own"
python3 -m venv "$WORK/venv"
"$WORK/venv/bin/pip" install --quiet --disable-pip-version-check duckdb duckdb-extensions duckdb-extension-httpfs

step "The analyst reads from the URL"
cat > "$WORK/read.py" <<'END'
import os
import duckdb
from duckdb_extensions import import_extension

import_extension("httpfs")
url, token = os.environ["MAINTAINER_URL"], os.environ["MAINTAINER_TOKEN"]
duckdb.sql("LOAD httpfs")
duckdb.execute("CREATE SECRET (TYPE http, BEARER_TOKEN '%s')" % token)
day = f"{url}/v1/organizations/acme/aggregates.parquet?startDate=2026-11-01&endDate=2026-11-02"
rows = duckdb.sql(f"FROM '{day}'")
print(duckdb.sql("SELECT package_name, total, unique_total FROM rows WHERE breakdown = 'total' ORDER BY package_name"))
print(duckdb.sql("SELECT package_name, value, total FROM rows WHERE breakdown = 'variable' ORDER BY ALL"))
print(duckdb.sql("SELECT package_name, country, total FROM rows WHERE breakdown = 'country' ORDER BY ALL"))
count, versions, namibia = duckdb.sql("""
  SELECT count(*), count(DISTINCT value) FILTER (breakdown = 'variable'),
    sum(total) FILTER (breakdown = 'country' AND country = 'NA')
  FROM rows""").fetchone()
print(f"rows={count} versions={versions} namibia={namibia}")
END
"$WORK/venv/bin/python" "$WORK/read.py" | tee "$WORK/read.txt"

step "The same rows as in the NDJSON"
ROWS=$(api "/v1/organizations/acme/aggregates?startDate=2026-11-01&endDate=2026-11-02" | grep -c breakdown)
expect "result" "rows=$ROWS versions=2 namibia=2000" "$(tail -n 1 "$WORK/read.txt")"

step "Done: $SECONDS s from nothing"
