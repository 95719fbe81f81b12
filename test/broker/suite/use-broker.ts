import { inject } from "vitest";
import { useSuiteBroker } from "../../support/stores/log-environment.js";

const broker = inject("suiteBroker");
if ("brokers" in broker) useSuiteBroker(broker);
else if (process.env["CI"] === "true")
  throw new Error(`With CI=true the Kafka suites must run. ${broker.missing}`);
