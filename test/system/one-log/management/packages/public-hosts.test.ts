import { beforeEach, describe, expect, test } from "vitest";
import { noteCollectionHost } from "../../../../../api/features/packages/hosts/public-hosts.js";
import { serveApi } from "../../../../support/api/management-api.js";
import { idOf, type Who } from "../../../../support/api/management-world.js";
import { as, postgres, refused, useWorld, world } from "../../../../support/api/use-world.js";

let host: string;
let count = 0;

useWorld();

beforeEach(async () => {
  host = `cr${count++}.acme.example`;
});

const image = (name: string, publicUrl?: string) => ({
  name,
  shortDescription: "",
  libraryType: "docker",
  backendUrl: `https://registry.example/${name}`,
  ...(publicUrl !== undefined && { publicUrl }),
});
const at = (name: string, authority = host) => image(name, `https://${authority}/${name}`);

function make(who: Who, body: object) {
  const owner = who === "admin" ? `/v1/organizations/${world.organization}` : "/v1";
  return as(who, `POST ${owner}/packages`, body);
}

const file = async (who: Who) => idOf(await make(who, { name: `files of ${who}`, shortDescription: "" }));
const domain = (who: Who, id: string, name = host) => as(who, `POST /v1/packages/${id}/domains`, { name });

const inUse = () => ({
  status: 422,
  body: { code: "domain-is-already-in-use", message: `The domain ${host} is already in use.` },
});

const held = () => ({
  status: 422,
  body: {
    code: "domain-is-already-in-use",
    message: expect.stringMatching(
      / was removed by another owner and is reserved for them until \S+Z\.$/,
    ) as string,
  },
});

/** As if hosts had been given up that long ago. */
async function passDays(days: number): Promise<void> {
  const text = "update held_hosts set held_until = held_until - make_interval(days => $2) where host = $1";
  await postgres.pg.query(text, [host, days]);
}

describe("a domain", () => {
  test("that is removed is held for its owner for 30 days", async () => {
    const [ours, theirs] = [await file("admin"), await file("stranger")];
    const made = idOf(await domain("admin", ours));
    await as("admin", `DELETE /v1/packages/${ours}/domains/${made}`);
    expect(await domain("stranger", theirs)).toMatchObject(held());
    expect(await make("stranger", at("web"))).toMatchObject(held());
    expect(await domain("admin", ours)).toMatchObject({ status: 201 });
    // Its package goes, and the domain with it.
    await as("admin", `DELETE /v1/packages/${ours}`);
    expect(await domain("stranger", theirs)).toMatchObject(held());
    await passDays(30);
    expect(await domain("stranger", theirs)).toMatchObject({ status: 201 });
  });

  test("that is removed is moved at once by who administers both owners, and by nobody else", async () => {
    const [ours, own] = [
      await file("admin"),
      idOf(await as("admin", "POST /v1/packages", { name: "own", shortDescription: "" })),
    ];
    const made = idOf(await domain("admin", ours));
    await as("admin", `DELETE /v1/packages/${ours}/domains/${made}`);
    expect(await domain("stranger", await file("stranger"))).toMatchObject(held());
    expect(await domain("admin", own)).toMatchObject({ status: 201 });
    expect(await domain("admin", ours)).toMatchObject(inUse());
    await as("admin", `DELETE /v1/packages/${own}`);
    // Held for the account now, which the organization's owner does not administer.
    expect(await domain("owner", ours)).toMatchObject(held());
    expect(await make("admin", at("web"))).toMatchObject({ status: 201 });
  });

  test("is none where pixels or npm reports were answered within 30 days, whoever asks", async () => {
    await noteCollectionHost(postgres.pg, host);
    const own = {
      status: 422,
      body: { code: "domain-is-already-in-use", message: expect.stringContaining("collector") as string },
    };
    const id = await file("admin");
    expect(await domain("admin", id)).toMatchObject(own);
    // Images are below /v2/ alone and take nothing away.
    expect(await make("admin", at("web"))).toMatchObject({ status: 201 });
    const past = "update collection_hosts set answered_on = current_date - 30 where host = $1";
    await postgres.pg.query(past, [host]);
    expect(await domain("admin", id)).toMatchObject({ status: 201 });
  });

  test("is none while the notes of hosts are full, and known hosts are noted all the same", async () => {
    const known = `known.${host}`;
    await noteCollectionHost(postgres.pg, known);
    await postgres.pg.query(
      "update collection_hosts set noted_on = current_date - 9, answered_on = current_date - 9",
    );
    const flood = `
      insert into collection_hosts (host, answered_on) select 'h' || n || '.flood', current_date from generate_series(1, 1000) n`;
    await postgres.pg.query(flood);
    try {
      for (const name of [known, host]) await noteCollectionHost(postgres.pg, name);
      const { rows } = await postgres.pg.query(
        "select host from collection_hosts where answered_on = current_date and host not like '%.flood'",
      );
      expect(rows).toEqual([{ host: known }]);
      const refused = {
        status: 422,
        body: { message: expect.stringContaining("too many new hosts") as string },
      };
      const id = await file("stranger");
      expect(await domain("stranger", id)).toMatchObject(refused);
      await postgres.pg.query("update collection_hosts set noted_on = noted_on - 1");
      expect(await domain("stranger", id)).toMatchObject(refused);
      await postgres.pg.query("update collection_hosts set noted_on = noted_on - 1");
      expect(await domain("stranger", id)).toMatchObject({ status: 201 });
    } finally {
      await postgres.pg.query("delete from collection_hosts where host like '%.flood'");
    }
  });

  test("is not COLLECT_HOST, and neither is a host of images", async () => {
    await using collecting = await serveApi({ pg: postgres.pg, collect: { publicHost: host, port: 8081 } });
    const token = world.tokens.stranger;
    const own = refused(422, "domain-is-already-in-use");
    const id = await file("stranger");
    expect(await collecting.call(token, `POST /v1/packages/${id}/domains`, { name: host })).toMatchObject(
      own,
    );
    expect(await collecting.call(token, "POST /v1/packages", at("web"))).toMatchObject(own);
    const older = idOf(await make("stranger", image("web")));
    expect(await collecting.call(token, `PUT /v1/packages/${older}`, at("web"))).toMatchObject(own);
  });
});

describe("the host of a public URL", () => {
  test.each<[string, (host: string) => string]>([
    ["as it is", (host) => host],
    ["in capitals", (host) => host.toUpperCase()],
    ["with a port", (host) => `${host}:5000`],
    ["with the default port", (host) => `${host}:443`],
    ["with a dot at its end", (host) => `${host}.`],
    ["with wide letters", (host) => host.replace("c", "\uff43")],
    ["with an escape", (host) => host.replace("c", "%63")],
  ])("is its owner's alone, spelt %s", async (_, spelt) => {
    expect(await make("admin", at("web"))).toMatchObject({ status: 201 });
    expect(await make("stranger", at("web", spelt(host)))).toMatchObject(inUse());
    expect(await make("admin", at("other", spelt(host)))).toMatchObject({ status: 201 });
  });

  test("cannot be moved to by a package that was there before", async () => {
    const older = idOf(await make("stranger", image("web")));
    expect(await make("admin", at("web"))).toMatchObject({ status: 201 });
    expect(await as("stranger", `PUT /v1/packages/${older}`, at("web"))).toMatchObject(inUse());
    expect(await as("stranger", `PUT /v1/packages/${older}`, image("web"))).toMatchObject({ status: 200 });
  });

  test("is held for its owner once none of their packages has it, and free after 30 days", async () => {
    const ids = [idOf(await make("admin", at("web"))), idOf(await make("admin", at("other")))];
    expect(await as("admin", `DELETE /v1/packages/${ids[0]}`)).toMatchObject({ status: 204 });
    expect(await make("stranger", at("web"))).toMatchObject(inUse());
    expect(await as("admin", `PUT /v1/packages/${ids[1]}`, image("other"))).toMatchObject({ status: 200 });
    expect(await make("stranger", at("web"))).toMatchObject(held());
    expect(await domain("stranger", await file("stranger"))).toMatchObject(held());
    await passDays(29);
    expect(await make("stranger", at("web"))).toMatchObject(held());
    expect(await as("admin", `PUT /v1/packages/${ids[1]}`, at("other"))).toMatchObject({ status: 200 });
    expect(await as("admin", `DELETE /v1/packages/${ids[1]}`)).toMatchObject({ status: 204 });
    await passDays(30);
    expect(await make("stranger", at("web"))).toMatchObject({ status: 201 });
  });

  test("stays its owner's when that one is renamed", async () => {
    const id = idOf(await make("admin", at("web")));
    const renamed = {
      name: `${world.organization}x`,
      description: "Things",
      billingEmail: "pay@acme.example",
    };
    await as("admin", `PUT /v1/organizations/${world.organization}`, renamed);
    expect(await make("stranger", at("web"))).toMatchObject(inUse());
    expect(await as("admin", `PUT /v1/packages/${id}`, at("web"))).toMatchObject({ status: 200 });
  });

  test("is no domain of another owner's package, and one of the same owner's", async () => {
    await make("admin", at("web"));
    expect(await domain("stranger", await file("stranger"))).toMatchObject(inUse());
    expect(await domain("admin", await file("admin"))).toMatchObject({ status: 201 });
  });

  test("is not another owner's domain", async () => {
    const id = await file("admin");
    const made = idOf(await domain("admin", id));
    expect(await make("stranger", at("web"))).toMatchObject(inUse());
    expect(await make("admin", at("web"))).toMatchObject({ status: 201 });
    await as("admin", `DELETE /v1/packages/${id}/domains/${made}`);
    expect(await make("stranger", at("web"))).toMatchObject(inUse());
  });
});

test("goes to one of many owners who ask for it at once, whatever for", async () => {
  const [ours, theirs] = [await file("admin"), await file("stranger")];
  const moved = idOf(await make("stranger", image("moved")));
  for (let round = 0; round < 5; round++) {
    host = `at-once${count++}.acme.example`;
    const calls = [
      ["stranger", as("stranger", `PUT /v1/packages/${moved}`, at("moved"))],
      ["admin", make("admin", at(`a${round}`))],
      ["stranger", make("stranger", at(`b${round}`))],
      ["admin", domain("admin", ours)],
      ["stranger", domain("stranger", theirs)],
      ["admin", make("admin", at(`c${round}`))],
    ] as const;
    const answers = await Promise.all(calls.map(async ([who, call]) => ({ who, ...(await call) })));
    const winners = answers.filter(({ status }) => status < 300).map(({ who }) => who);
    expect(new Set(winners).size).toBe(1);
    expect(winners).toHaveLength(3);
    for (const lost of answers.filter(({ status }) => status >= 300)) expect(lost).toMatchObject(inUse());
  }
});
