import fc from "fast-check"
import type { z } from "zod"

/** Words that mean something to an object, a formatter, a renderer or a path, among ordinary ones. */
const WORDS = [
  "constructor",
  "__proto__",
  "toString",
  "hasOwnProperty",
  "",
  " ",
  "credits",
  "USD",
  "a",
  "-x",
  "../..",
  "\u0000",
  "\ud800",
  "\u202e",
]
const text = fc.oneof({ arbitrary: fc.constantFrom(...WORDS), weight: 3 }, fc.string({ unit: "binary", maxLength: 20 }))
const numbers = fc.oneof(
  fc.constantFrom(0, -1, 1, 1e21, -1e308, Number.MAX_SAFE_INTEGER),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

type Def = { type: string } & Record<string, unknown>
const defOf = (schema: unknown) => (schema as { _zod: { def: Def } })._zod.def

/** Any value that a schema takes. Only what our contracts use is known; anything else fails, so that it is added here. */
export function arbitraryOf<S extends z.ZodType>(schema: S): fc.Arbitrary<z.infer<S>> {
  return build(schema).filter((value) => schema.safeParse(value).success) as fc.Arbitrary<z.infer<S>>
}

function build(schema: unknown): fc.Arbitrary<unknown> {
  const def = defOf(schema)
  const inner = () => build(def.innerType)
  switch (def.type) {
    case "string":
      return stringFor(schema)
    case "number":
      return isInteger(def) ? fc.oneof(fc.constantFrom(0, 1, 7), fc.maxSafeInteger()) : numbers
    case "boolean":
      return fc.boolean()
    case "literal":
      return fc.constantFrom(...(def.values as unknown[]))
    case "enum":
      return fc.constantFrom(...Object.values(def.entries as Record<string, string>))
    case "unknown":
      return fc.oneof(fc.jsonValue({ maxDepth: 3 }), text)
    case "nonoptional":
      return inner().filter((value) => value !== undefined)
    case "nullable":
      return fc.oneof(inner(), fc.constant(null))
    case "optional":
      return fc.oneof(inner(), fc.constant(undefined))
    case "array":
      return fc.array(build(def.element), { maxLength: 3 })
    case "record":
      return fc.dictionary(build(def.keyType) as fc.Arbitrary<string>, build(def.valueType), { maxKeys: 3 })
    case "union":
      return fc.oneof(...(def.options as unknown[]).map(build))
    case "object":
      return fc.record(Object.fromEntries(Object.entries(def.shape as Record<string, unknown>).map(([key, part]) => [key, build(part)])))
    default:
      throw new Error(`no arbitrary value for a schema of type ${def.type}`)
  }
}

const isInteger = (def: Def) => ((def.checks as unknown[] | undefined) ?? []).some((check) => String(defOf(check).format).includes("int"))

/** A string of a given form is made by that form. */
function stringFor(schema: unknown): fc.Arbitrary<string> {
  const patterns = ((defOf(schema).checks as unknown[] | undefined) ?? [])
    .map((check) => defOf(check).pattern)
    .filter((one) => one instanceof RegExp)
  return patterns[0] ? fc.stringMatching(patterns[0]) : text
}
