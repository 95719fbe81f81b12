import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { startClickHouse } from "../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { startPostgres } from "../../../deploy/stores/embedded/postgres/postgres.js";
import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** A PostgreSQL and a ClickHouse that no program of ours has started, for DATABASE_URL and CLICKHOUSE_URL. */
export interface DatabaseServers extends AsyncDisposable {
  databaseUrl: string;
  clickhouseUrl: string;
}

const USER = "maintainer";
const PASSWORD = "known-to-tests";
const START_MS_MAX = 300_000;

/** In containers, of the versions that deploy/compose.yaml runs, and prepared as there. */
export async function openDockerServers(): Promise<DatabaseServers> {
  // Both are waited for, also when one fails: what is still starting could not be stopped.
  const [postgres, clickhouse] = await Promise.allSettled([startPostgresImage(), startClickHouseImage()]);
  const started = [postgres, clickhouse].flatMap((result) =>
    result.status === "fulfilled" ? [result.value] : [],
  );
  const stop = async () => void (await Promise.all(started.map((container) => container.stop())));
  if (postgres.status === "rejected" || clickhouse.status === "rejected") {
    await stop();
    throw new Error("the servers did not start", {
      cause: [postgres, clickhouse].find((result) => result.status === "rejected")?.reason,
    });
  }
  const urlOf = (protocol: string, container: Container, port: number) =>
    withCredentials(`${protocol}://${container.getHost()}:${container.getMappedPort(port)}/${USER}`);
  return {
    databaseUrl: urlOf("postgres", postgres.value, 5432),
    clickhouseUrl: urlOf("http", clickhouse.value, 8123),
    [Symbol.asyncDispose]: stop,
  };
}

type Container = Awaited<ReturnType<typeof startPostgresImage>>;

async function startPostgresImage() {
  const { container, Wait } = await containerOf("postgres", 5432);
  return (
    container
      // It says so twice: the first time on a socket only, for those who prepare its database.
      .withWaitStrategy(
        Wait.forAll([Wait.forLogMessage(/ready to accept connections/, 2), Wait.forListeningPorts()]),
      )
      .start()
  );
}

async function startClickHouseImage() {
  const { container, Wait } = await containerOf("clickhouse", 8123);
  return (
    container
      .withUlimits({ nofile: { soft: openFilesMax(), hard: openFilesMax() } })
      // Before it has made its user and database it listens inside the container only.
      .withWaitStrategy(Wait.forHttp("/ping", 8123).forStatusCode(200))
      .start()
  );
}

async function containerOf(service: string, port: number) {
  const { GenericContainer, Wait } = await import("testcontainers");
  const account = { USER, DB: USER, PASSWORD };
  const named = Object.entries(account).map(([name, value]) => [`${service.toUpperCase()}_${name}`, value]);
  const container = new GenericContainer(composeImage(service))
    .withEnvironment(Object.fromEntries(named) as Record<string, string>)
    .withExposedPorts(port)
    .withStartupTimeout(START_MS_MAX);
  return { container, Wait };
}

/** As in compose.yaml, and at most what this machine lets a process have. */
export function openFilesMax(): number {
  const hard = Number(execFileSync("bash", ["-c", "ulimit -Hn"], { encoding: "utf8" }));
  return Math.min(hard || OPEN_FILES_MAX, OPEN_FILES_MAX);
}

const OPEN_FILES_MAX = 262_144;

/** The servers of the packages that the program embeds, started here and known to it by their URLs alone. */
export async function openLocalServers(): Promise<DatabaseServers> {
  const dir = await mkdtemp(join(tmpdir(), "database-servers-"));
  const log = pino({ level: "silent" });
  const [postgres, clickhouse] = await Promise.all([
    startPostgres({ dir: join(dir, "postgres"), log }),
    startClickHouse({ dir: join(dir, "clickhouse"), log }),
  ]);
  return {
    databaseUrl: postgres.url,
    clickhouseUrl: withCredentials(`${clickhouse.url}/shared`, clickhouse),
    async [Symbol.asyncDispose]() {
      await Promise.all([postgres[Symbol.asyncDispose](), clickhouse[Symbol.asyncDispose]()]);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function withCredentials(url: string, { username = USER, password = PASSWORD } = {}): string {
  const whole = new URL(url);
  whole.username = username;
  whole.password = password;
  return whole.href;
}

interface Compose {
  services: Record<string, { image: string }>;
}

/** The image that a Compose file runs for a store, so that what is tested is what is deployed. */
export function composeImage(service: string, file = "compose.yaml"): string {
  const text = readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), "utf8");
  const { services } = parse(text, { merge: true }) as Compose;
  const image = services[service]?.image;
  if (image === undefined) throw new Error(`deploy/${file} names no image for ${service}`);
  return image;
}
