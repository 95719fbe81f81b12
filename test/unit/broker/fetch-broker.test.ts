import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fetchBroker, isFetched, KAFKA_VERSION } from "../../broker/fetch-broker.js";

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "fetch-broker-"));
  await mkdir(join(dir, "bin"));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

/** A Maven that notes each download in `asked`, and then does as the lines of shell say, with `$out` to fill. */
async function installMaven(...lines: readonly string[]): Promise<NodeJS.ProcessEnv> {
  const path = join(dir, "bin", "mvn");
  const script = [
    "#!/bin/sh",
    '[ "$1" = --version ] && exit',
    `echo asked >> ${join(dir, "asked")}`,
    'for arg; do case "$arg" in -DoutputDirectory=*) out=${arg#*=};; esac; done',
    ...lines,
  ];
  await writeFile(path, `${script.join("\n")}\n`);
  await chmod(path, 0o755);
  return { PATH: `${join(dir, "bin")}:${process.env["PATH"]}` };
}

const JAR = `mkdir "$out" && touch "$out/kafka_2.13-${KAFKA_VERSION}.jar"`;
const onProgress = () => undefined;

test("is downloaded once for concurrent calls", async () => {
  const env = await installMaven("sleep 0.3", JAR);
  const lib = join(dir, "cache", "lib");
  const said: string[] = [];
  await Promise.all([1, 2, 3].map(() => fetchBroker(lib, { env, onProgress: (text) => said.push(text) })));
  expect(isFetched(lib)).toBe(true);
  expect(await readdir(dir)).toContain("asked");
  expect(said.filter((text) => text.startsWith("Downloading"))).toHaveLength(1);
  expect(said.filter((text) => text.startsWith("Waiting for process"))).toHaveLength(2);
  expect(await readdir(join(dir, "cache"))).toEqual(["lib"]);
});

test("needs no Maven once it is downloaded", async () => {
  const lib = join(dir, "lib");
  await fetchBroker(lib, { env: await installMaven(JAR), onProgress });
  await fetchBroker(lib, { env: { PATH: "/nowhere" }, onProgress });
  await expect(fetchBroker(join(dir, "other"), { env: { PATH: "/nowhere" }, onProgress })).rejects.toThrow(
    /no mvn/,
  );
});

test("a failed download leaves no broker, and shows the output of Maven", async () => {
  const lib = join(dir, "lib");
  const env = await installMaven('mkdir "$out"', "echo '[ERROR] Unknown host repo.example'", "exit 1");
  await expect(fetchBroker(lib, { env, onProgress })).rejects.toThrow(
    /^Maven could not download Kafka .* \(exit status 1\): .*\n\[ERROR\] Unknown host repo\.example$/,
  );
  expect(isFetched(lib)).toBe(false);
  await fetchBroker(lib, { env: await installMaven(JAR), onProgress });
  expect(isFetched(lib)).toBe(true);
});
