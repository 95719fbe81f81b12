import { expect, test } from "vitest";
import { findJava, findMaven, parseJavaVersion } from "../../broker/find-java.js";
import { testTable } from "../../support/test-table.js";

testTable("reads the major version from what java -version writes: %#", parseJavaVersion, [
  ['openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)', 17],
  ['java version "1.8.0_412"\nJava(TM) SE Runtime Environment (build 1.8.0_412-b08)', 8],
  ['Picked up JAVA_TOOL_OPTIONS: -Dfile.encoding=UTF8\nopenjdk version "21.0.2" 2024-01-16', 21],
  ["The operation couldn’t be completed. Unable to locate a Java Runtime.", undefined],
  ["", undefined],
]);

test("names where it looked for Java, and what to install", async () => {
  await expect(findJava({ PATH: "/nowhere" })).rejects.toThrow(/PATH has none: install it/);
  await expect(findJava({ PATH: "/nowhere", JAVA_HOME: "/no/jdk" })).rejects.toThrow(
    /JAVA_HOME \(\/no\/jdk\) has none that runs/,
  );
});

test("says that Maven is missing, and what to install", async () => {
  await expect(findMaven({ PATH: "/nowhere" })).rejects.toThrow(/PATH has no mvn that runs: install it/);
});
