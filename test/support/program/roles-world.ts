import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import { type PersistentClickHouse, openPersistentClickHouse } from "../../faults/worlds/fault-world.js";
import { type RecountBodies, makeExporter, openRecount } from "../imports/import-world.js";
import { makePackage } from "../imports/make-artifacts.js";
import type { SuiteBroker } from "../stores/log-environment.js";
import { onPostgres } from "../stores/on-postgres.js";
import type { KnownArtifact } from "../imports/recount-line.js";
import { type Cluster, startCluster } from "./start-cluster.js";
import type { Toolchain } from "./start-toolchain.js";
import type { ProcessEnvironment } from "./toolchain-process.js";
import { generateBody } from "../../../deploy/demo/generate-events.js";

/** A cluster of two processes of the API, three of enrichment and one of jobs, with an organization to import into. */
export interface RolesWorld extends AsyncDisposable {
  readonly cluster: Cluster;
  /** One account's client of each process of the API. */
  readonly apis: readonly [ApiClient, ApiClient];
  readonly organization: string;
  /** The organization's import, for a body whose lines name their package. */
  readonly path: string;
  readonly clickhouse: PersistentClickHouse;
  readonly recountBodies: RecountBodies;
  /** Those that were added and not removed. */
  readonly enrichers: readonly Toolchain[];
  readonly jobs: Toolchain;
  addEnricher(env?: ProcessEnvironment): Promise<Toolchain>;
  newPackage(): Promise<KnownArtifact>;
  /** So many lines, in sections that are each about a new package. */
  newSections(lines: number): Promise<Section[]>;
  recountSection(section: Section): ReturnType<RecountBodies>;
  /** One row of the database. */
  row<Row extends object>(query: string, values?: readonly unknown[]): Promise<Row>;
}

const ORGANIZATION = "on-roles";
const SECTION_LINES = 50_000;

export async function openRolesWorld({ brokers, sessionTimeoutMs }: SuiteBroker): Promise<RolesWorld> {
  const env = {
    KAFKA_TOPIC_PREFIX: `roles-${Date.now()}.`,
    KAFKA_PARTITIONS: "12",
    KAFKA_SESSION_TIMEOUT_MS: String(sessionTimeoutMs),
  };
  const cluster = await startCluster({ brokers, env });
  const recountBodies = await openRecount();
  const first = await cluster.add("api");
  const second = await cluster.add("api");
  const added: Toolchain[] = [];
  const addEnricher = async (env?: ProcessEnvironment) => {
    const enricher = await cluster.add("enrich", env);
    added.push(enricher);
    return enricher;
  };
  for (let started = 0; started < 3; started++) await addEnricher();
  const jobs = await cluster.add("jobs");
  const api = await makeExporter(first, ORGANIZATION);
  const artifacts: KnownArtifact[] = [];
  const newPackage = async () => {
    const name = `package-${artifacts.length}`;
    const artifact = await makePackage(api, { organization: ORGANIZATION, name, libraryType: "docker" });
    artifacts.push(artifact);
    return artifact;
  };
  return {
    cluster,
    apis: [api, connectApi(second.api, api.token)],
    organization: ORGANIZATION,
    path: `/v2/${ORGANIZATION}/import`,
    clickhouse: openPersistentClickHouse(() => cluster.clickhouseUrl),
    recountBodies,
    get enrichers() {
      return added.filter((enricher) => cluster.members.includes(enricher));
    },
    addEnricher,
    jobs,
    newPackage,
    async newSections(lines) {
      const sections: Section[] = [];
      for (let left = lines; left > 0; left -= SECTION_LINES)
        sections.push({
          artifact: await newPackage(),
          seed: sections.length + left,
          count: Math.min(left, SECTION_LINES),
        });
      return sections;
    },
    recountSection: (section) =>
      recountBodies([{ bytes: Buffer.concat([...sectionBytes([section])]) }], artifacts),
    row: (query, values = []) =>
      onPostgres(cluster.postgresUrl, async (client) => {
        const { rows } = await client.query(query, [...values]);
        return rows[0] as never;
      }),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** Lines of one body that are all about one package: bodies of any length are counted again section by section. */
export interface Section {
  artifact: KnownArtifact;
  seed: number;
  count: number;
}

/** The bytes of the sections, one after the other, each line naming its package. */
export function* sectionBytes(sections: readonly Section[]): Generator<Buffer> {
  for (const { artifact, seed, count } of sections)
    yield* generateBody({
      seed,
      count,
      packages: [{ id: artifact.id, libraryType: artifact.libraryType || "other" }],
      target: "line",
      from: "2025-03-10",
      days: 30,
      clients: 3_000,
      overrideShare: 0.2,
    });
}
