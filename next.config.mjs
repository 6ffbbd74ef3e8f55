import { dirname } from "node:path"
import { fileURLToPath } from "node:url"

const securityHeaders = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "X-Frame-Options", value: "DENY" },
  { key: "Referrer-Policy", value: "same-origin" },
]

/** @type {import("next").NextConfig} */
export default {
  // Set by the built server to the pages of its own build; unset in development.
  distDir: process.env.REWAKE_NEXT_DIR ?? ".next",
  reactStrictMode: true,
  poweredByHeader: false,
  devIndicators: false,
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
