import { dirname } from "node:path"
import { fileURLToPath } from "node:url"

// A self-hosted workbench reports to nobody.
process.env.NEXT_TELEMETRY_DISABLED = "1"

const securityHeaders = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "X-Frame-Options", value: "DENY" },
  { key: "Referrer-Policy", value: "same-origin" },
]

/** @type {import("next").NextConfig} */
export default {
  // A built server names the pages of its own build, `next build` is told where to put them; unset in development.
  distDir: globalThis[Symbol.for("rewake.pages")] ?? process.env.REWAKE_NEXT_DIR ?? ".next",
  reactStrictMode: true,
  poweredByHeader: false,
  devIndicators: false,
  // Loading every page at the start would take half a second more until the server is ready; a page is loaded when it is opened.
  experimental: { preloadEntriesOnStart: false },
  turbopack: { root: dirname(fileURLToPath(import.meta.url)) },
  serverExternalPackages: [
    "@node-rs/argon2",
    "@prisma/adapter-better-sqlite3",
    "@prisma/adapter-pg",
    "@prisma/client",
    "better-sqlite3",
    "pg",
    "pino",
    "prom-client",
    "socket.io",
  ],
  typescript: {
    // `npm test` checks types over everything; and a file of its own keeps the build from rewriting tsconfig.json.
    ignoreBuildErrors: true,
    tsconfigPath: "scripts/tsconfig.next.json",
  },
  headers: async () => [{ source: "/:path*", headers: securityHeaders }],
}
