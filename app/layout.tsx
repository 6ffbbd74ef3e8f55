import type { Metadata, Viewport } from "next"
import { headers } from "next/headers"
import type { ReactNode } from "react"
import { Providers } from "@/components/providers"
import { themeScript } from "@/lib/client/theme"
import "./globals.css"

// No title here: Next would put it back after the page has set its own, with the count of sessions that need you.
export const metadata: Metadata = { description: "A workbench for AI coding agents whose sessions survive." }
export const viewport: Viewport = {
  width: "device-width",
  initialScale: 1,
  interactiveWidget: "resizes-content",
  themeColor: [
    { media: "(prefers-color-scheme: dark)", color: "#0f1115" },
    { media: "(prefers-color-scheme: light)", color: "#fafafb" },
  ],
}

export default async function RootLayout({ children }: { children: ReactNode }) {
  const nonce = (await headers()).get("x-nonce") ?? undefined
  return (
    // The script below sets data-theme before React sees the element.
    <html lang="en" data-theme="dark" suppressHydrationWarning>
      <head>
        <title>Rewake</title>
        {/* Browsers hide a nonce from scripts, so the hydrated attribute is always empty. */}
        <script nonce={nonce} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: themeScript }} />
      </head>
      <body>
        <Providers>{children}</Providers>
      </body>
    </html>
  )
}
