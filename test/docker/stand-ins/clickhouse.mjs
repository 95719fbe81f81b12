// Runs the engine that the program embeds as a server for others, with the user and the database that the official image makes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { engineCommand } from "./dist/deploy/stores/embedded/clickhouse/clickhouse-config.js";

const { CLICKHOUSE_USER: user, CLICKHOUSE_PASSWORD: password, CLICKHOUSE_DB: database } = process.env;
const ETC = "/etc/clickhouse-server";
const DATA = "/var/lib/clickhouse";

mkdirSync(`${ETC}/config.d`, { recursive: true });
writeFileSync(
  `${ETC}/config.xml`,
  `<clickhouse><log-level>warning</log-level><users_config>${ETC}/users.xml</users_config>
  <background_pool_size>16</background_pool_size><background_schedule_pool_size>16</background_schedule_pool_size></clickhouse>`,
);
// The query that holds the engine is of the user default, who may do nothing else.
writeFileSync(
  `${ETC}/users.xml`,
  `<clickhouse><profiles><default/></profiles><quotas><default/></quotas><users>
  <default><password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
    <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT SELECT ON system.numbers</query></grants></default>
  <${user}><password>${password}</password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></${user}>
  </users></clickhouse>`,
);

const { command, args, env } = engineCommand({ dir: ETC, port: 8123 });
const isNew = !existsSync(`${DATA}/store`);
const server = spawn(command, args.map(forOthers), {
  cwd: DATA,
  env: { ...process.env, ...env },
  stdio: ["ignore", "inherit", "inherit", "pipe"],
});
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void stop());
server.on("exit", () => process.exit(1));
if (isNew && database) await makeDatabase();

function forOthers(argument) {
  if (argument.startsWith("--path=")) return `--path=${DATA}`;
  return argument.startsWith("--listen_host=") ? "--listen_host=0.0.0.0" : argument;
}

async function makeDatabase() {
  const query = `CREATE DATABASE IF NOT EXISTS ${database}`;
  while (!(await ask(query).catch(() => false))) await pause(100);
}

async function ask(body) {
  const headers = { "X-ClickHouse-User": user, "X-ClickHouse-Key": password };
  return (await fetch("http://127.0.0.1:8123/", { method: "POST", headers, body })).ok;
}

/** Without the query that holds it the engine shuts down by itself. */
async function stop() {
  server.removeAllListeners("exit");
  await ask("KILL QUERY WHERE query LIKE 'SELECT sleepEachRow(1)%' ASYNC").catch(() => false);
  await Promise.race([once(server, "exit"), pause(8_000)]);
  process.exit(0);
}
