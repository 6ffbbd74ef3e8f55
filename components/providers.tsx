"use client"

import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { isAppError } from "@/lib/contracts/errors"
import { signInAgain } from "./frame/leave"

const onError = (error: unknown) => {
  if (isAppError(error) && error.code === "UNAUTHENTICATED") signInAgain()
}

/** What the server refused it will refuse again; what did not arrive is worth another try. */
const worthRetrying = (failures: number, error: unknown) => !isAppError(error) && failures < 3

function createQueryClient() {
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: { queries: { staleTime: 15_000, retry: worthRetrying, refetchOnWindowFocus: false }, mutations: { retry: false } },
  })
}

export function Providers({ children }: { children: ReactNode }) {
  const [client] = useState(createQueryClient)
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>
}
