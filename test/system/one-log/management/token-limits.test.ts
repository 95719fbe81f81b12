import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { aggregateRoutes } from "../../../../api/features/exports/aggregates-routes.js";
import { importEndingRoutes } from "../../../../api/features/imports/import-ending-routes.js";
import { importRoutes } from "../../../../api/features/imports/import-routes.js";
import { insertImport } from "../../../../api/features/imports/imports.js";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { ActiveUploads } from "../../../../ingest/import/active-uploads.js";
import { SCOPES } from "../../../../schemas/contracts/user.js";
import type { EventLog } from "../../../../schemas/records/event-log.js";
import { idOf } from "../../../support/api/management-world.js";
import { api, as, openTestLog, postgres, useWorld, world } from "../../../support/api/use-world.js";

let eventLog: EventLog;

useWorld(async ({ pg }) => {
  // Nobody here may export: what asks for rows is refused before there is a need for ClickHouse.
  const clickhouse = connectClickHouse("http://127.0.0.1:1");
  const active = new ActiveUploads();
  eventLog = await openTestLog();
  const imports = [...importRoutes({ pg, eventLog, active }), ...importEndingRoutes({ pg, active })];
  return { routes: [...imports, ...aggregateRoutes({ pg, clickhouse, isSharded: false })] };
});

afterAll(() => eventLog?.[Symbol.asyncDispose]());

const TOKENS = "/v1/user/tokens";
const codeOf = ({ body }: { body: unknown }) => (body as { code?: string }).code;

async function idsOf(organization: string, username: string) {
  const { rows } = await postgres.pg.query<{ ownerId: string; accountId: string }>(
    `select o.id as "ownerId", u.id as "accountId" from owners o, owners u where o.name = $1 and u.name = $2`,
    [organization, username],
  );
  return rows[0] ?? { ownerId: "", accountId: "" };
}

describe("a token's scopes", () => {
  test("are named in the refusal, also of what is not there", async () => {
    const token = await api.limitedToken(world.tokens.owner, { scopes: ["read"] });
    const bodies = await Promise.all(
      [world.organization, "no-such-organization"].map((name) =>
        api.call(token, `PUT /v1/organizations/${name}`, {}),
      ),
    );
    for (const { status, body } of bodies) {
      expect(status).toBe(403);
      expect(body).toEqual({
        code: "out-of-scope",
        message: "This token lacks the scope manage, which this operation (organization.update) requires.",
      });
    }
  });

  test("all together make no token, and change or show none", async () => {
    const token = await api.limitedToken(world.tokens.owner, { scopes: SCOPES });
    const [{ id = "" } = {}] = (await as("owner", `GET ${TOKENS}`)).body as { id: string }[];
    for (const request of [
      `GET ${TOKENS}`,
      `POST ${TOKENS}`,
      `DELETE ${TOKENS}/${id}`,
      "POST /v1/user/token",
    ])
      expect(codeOf(await api.call(token, request, undefined))).toBe("out-of-scope");
    expect((await api.call(token, "GET /v1/user")).status).toBe(200);
  });
});

describe("a token of one owner", () => {
  const PACKAGE = { name: "tool", shortDescription: "" };
  let mine: string;
  let theirs: string;
  let limited: string;
  let other: string;

  beforeEach(async () => {
    const { owner } = world.tokens;
    other = `Other-${world.organization}`;
    await api.call(owner, "POST /v1/organizations", {
      name: other,
      description: "",
      billingEmail: "pay@acme.example",
    });
    mine = idOf(await api.call(owner, `POST /v1/organizations/${world.organization}/packages`, PACKAGE));
    theirs = idOf(await api.call(owner, `POST /v1/organizations/${other}/packages`, PACKAGE));
    limited = await api.limitedToken(owner, { scopes: SCOPES, owner: world.organization });
  });

  test("lists and finds that owner's packages only", async () => {
    const { body } = await api.call(limited, "GET /v1/packages");
    expect((body as { uuid: string }[]).map(({ uuid }) => uuid)).toEqual([mine]);
    expect(idOf(await api.call(limited, "GET /v1/packages/tool"))).toBe(mine);
    expect(codeOf(await as("owner", "GET /v1/packages/tool"))).toBe("ambiguous-name");
  });

  test("does on that owner's things what its account may, and is out of scope on the account's others", async () => {
    const answers = async (owner: string, id: string) => [
      codeOf(await api.call(limited, `GET /v1/organizations/${owner}`)),
      codeOf(await api.call(limited, `POST /v1/organizations/${owner}/packages`, { ...PACKAGE, name: "b" })),
      codeOf(await api.call(limited, `GET /v1/packages/${id}`)),
      codeOf(await api.call(limited, `GET /v2/pixels/${owner}`)),
      codeOf(await api.call(limited, `GET /v2/${owner}/audit`)),
    ];
    expect(await answers(world.organization, mine)).toEqual(Array(5).fill(undefined));
    expect(await answers(other, theirs)).toEqual(Array(5).fill("out-of-scope"));
    expect(codeOf(await api.call(limited, "POST /v1/packages", PACKAGE))).toBe("out-of-scope");
    expect(codeOf(await api.call(limited, "POST /v1/organizations", {}))).toBe("out-of-scope");
  });

  test("sees no more than its account of what belongs to strangers", async () => {
    const { stranger } = world.tokens;
    const hidden = idOf(await api.call(stranger, "POST /v1/packages", PACKAGE));
    for (const path of [`/v1/packages/${hidden}`, `/v2/pixels/${world.names.stranger}`, "/v2/pixels/nobody"])
      expect(codeOf(await api.call(limited, `GET ${path}`))).toBe("not-found");
  });

  test("imports into that owner's things only, line by line too", async () => {
    const lines = [mine, theirs].map(($package) => ({ $time: "2026-01-01T00:00:00Z", $package }));
    const sent = await fetch(`${api.url}/v2/${world.organization}/import?dryRun=true`, {
      method: "POST",
      headers: { authorization: `Bearer ${limited}` },
      body: lines.map((line) => JSON.stringify(line)).join("\n"),
    });
    expect(await sent.json()).toMatchObject({
      events_successfully_imported: 1,
      error_log_sample: [{ type: "artifact-not-found", line: 2, package_id: theirs }],
    });
    const paths = [`/v2/${other}/import`, `/v2/packages/${other}/${theirs}/import`];
    for (const path of paths)
      expect(codeOf(await api.call(limited, `POST ${path}`, {}))).toBe("out-of-scope");
  });

  test("ends no import of another owner, also not one into a package that its account administers", async () => {
    const by = await idsOf(other, world.names.owner);
    const { id } = await insertImport(postgres.pg, { ...by, artifactKind: "package", artifactId: theirs });
    const abort = `POST /v2/imports/${other}/${id}/abort`;
    expect(codeOf(await api.call(limited, abort))).toBe("out-of-scope");
    expect((await as("owner", abort)).status).toBe(204);
  });

  test("is of no more use than its account once that left the organization", async () => {
    const { admin } = world.tokens;
    const token = await api.limitedToken(admin, { scopes: SCOPES, owner: world.organization });
    expect((await api.call(token, `GET /v1/packages/${mine}`)).status).toBe(200);
    await postgres.pg.query(
      "delete from memberships where account_id = (select id from owners where name = $1)",
      [world.names.admin],
    );
    expect((await api.call(token, `GET /v1/packages/${mine}`)).status).toBe(404);
    expect((await api.call(token, "GET /v1/packages")).body).toEqual([]);
  });
});
