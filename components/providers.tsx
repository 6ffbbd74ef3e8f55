"use client"

import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { isAppError } from "@/lib/contracts/errors"

const signInAgain = (error: unknown) => {
  if (!isAppError(error) || error.code !== "UNAUTHENTICATED" || location.pathname === "/login") return
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`)
}

/** What the server refused it will refuse again; what did not arrive is worth another try. */
const worthRetrying = (failures: number, error: unknown) => !isAppError(error) && failures < 3

function createQueryClient() {
  return new QueryClient({
    queryCache: new QueryCache({ onError: signInAgain }),
    mutationCache: new MutationCache({ onError: signInAgain }),
    defaultOptions: { queries: { staleTime: 15_000, retry: worthRetrying, refetchOnWindowFocus: false }, mutations: { retry: false } },
  })
}

export function Providers({ children }: { children: ReactNode }) {
  const [client] = useState(createQueryClient)
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>
}
