import fc from "fast-check"

/** Every change is judged by the same examples, as by the same schedules of torture; `FAST_CHECK_SEED` looks for others. */
fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 164_900) })
