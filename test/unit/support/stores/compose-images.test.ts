import { expect, test } from "vitest";
import { composeImage } from "../../../support/stores/database-servers.js";

test.each([
  ["kafka", /^apache\/kafka:\d/],
  ["postgres", /^postgres:\d/],
  ["clickhouse", /^clickhouse\/clickhouse-server:\d/],
] as const)("the image of %s is found where it is deployed", (service, image) => {
  expect(composeImage(service)).toMatch(image);
});
