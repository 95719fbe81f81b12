import { percentiles } from "../../../bench/common/percentiles.js";
import { testTable } from "../../../support/test-table.js";

testTable("answers values that occur (%#)", (values) => percentiles(Float64Array.from(values)), [
  [[7], { p50: 7, p90: 7, p99: 7, max: 7 }],
  [[4, 1, 3, 2], { p50: 2, p90: 4, p99: 4, max: 4 }],
  [Array.from({ length: 1000 }, (_, i) => 1000 - i), { p50: 500, p90: 900, p99: 990, max: 1000 }],
]);
