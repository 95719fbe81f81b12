// See optimize-late.ts.
import { setFlagsFromString } from "node:v8";

// Later versions have no such flag.
if (process.versions.node.startsWith("20.")) setFlagsFromString("--interrupt-budget=500000");
