import { type Durations, DURATIONS as PRODUCT } from "../../lib/host/durations"

/** Replaces lib/host/durations.ts in dist-test/: the product's times, except those that the test gave to `Rewake.start`. */
export const DURATIONS: Durations = { ...PRODUCT, ...JSON.parse(process.env.REWAKE_TEST_DURATIONS ?? "{}") }
