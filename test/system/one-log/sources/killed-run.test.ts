import type { ServerResponse } from "node:http";
import { afterAll, expect, test } from "vitest";
import type { SourceRecord } from "../../../../schemas/contracts/source.js";
import { startServer } from "../../../support/collect/start-server.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";

let toolchain: Toolchain | undefined;
afterAll(() => toolchain?.close());

test("a program that is killed while it asks a registry asks again when the lease of the run is over, and counts once", async () => {
  const held: ServerResponse[] = [];
  // The look at the name, before the source is made, is answered.
  let answersLeft = 1;
  const answer = { downloads: [{ day: "2026-08-01", downloads: 120 }] };
  await using registry = await startServer((_, response) => {
    if (answersLeft-- > 0) response.setHeader("Content-Type", "application/json").end(JSON.stringify(answer));
    else held.push(response);
  });
  const running = (toolchain = await startToolchain({ env: { SOURCES_URLS: `npm=${registry.url}` } }));
  const ada = await running.newAccount("ada");
  const { id } = await ada.post<SourceRecord>("/v2/ada/sources", { kind: "npm", name: "left-pad" });
  await expect.poll(() => held.length).toBe(1);
  await running.kill("SIGKILL");
  answersLeft = Infinity;
  await running.restart();
  const asks = (text: string) =>
    onPostgres(
      running.endpoints.postgres,
      async (client) => (await client.query(text, [id])).rows as unknown,
    );
  const isLeased = "select next_run_at < now() + interval '10 minutes' as soon from sources where id = $1";
  expect(await asks(isLeased)).toEqual([{ soon: true }]);
  // As if the lease were over.
  await asks("update sources set next_run_at = now() where id = $1");
  await expect
    .poll(() =>
      asks("select date::text, value::int, first_value::int from reported_counts where source_id = $1"),
    )
    .toEqual([{ date: "2026-08-01", value: 120, first_value: 120 }]);
});
