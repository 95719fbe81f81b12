// See start-sooner.ts.
import { setFlagsFromString } from "node:v8";

if (process.versions.node.startsWith("20.")) {
  // Later versions have no such flag, and have a navigator.
  setFlagsFromString("--interrupt-budget=500000");
  globalThis.navigator = { userAgent: `Node.js/${process.versions.node}` };
}
