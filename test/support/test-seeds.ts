const COUNT = Number(process.env["TEST_SEEDS"] ?? 1);

/** The seeds of tests that draw their input: one, or as many as TEST_SEEDS says: `TEST_SEEDS=100 npx vitest run settlement`. */
export const TEST_SEEDS: readonly number[] = Array.from({ length: COUNT }, (_, index) => index + 1);
