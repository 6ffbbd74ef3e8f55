import { QueryClient, QueryObserver } from "@tanstack/react-query"
import { expect, test } from "vitest"
import { createWorkspaceRefresh } from "@/lib/client/queries/workspace"

/** A page that shows the workspace; each of its reads ends when the test says what it has read. */
function openPage() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const reads: ((found: string) => void)[] = []
  const queryKey = ["workspace", "sess_1", "changes"]
  const read = () => new Promise<string>((resolve) => reads.push(resolve))
  const close = new QueryObserver(client, { queryKey, queryFn: read }).subscribe(() => {})
  return { client, reads, shown: () => client.getQueryData(queryKey), close }
}

test("a change told while the page reads makes it read again: that read may have come before the change", async () => {
  const { client, reads, shown, close } = openPage()
  expect(reads).toHaveLength(1)
  const refreshed = createWorkspaceRefresh(client, "sess_1")()
  reads[0]?.("before the change")
  await expect.poll(() => reads.length).toBe(2)
  reads[1]?.("after the change")
  await refreshed
  expect(shown()).toBe("after the change")
  close()
})

test("a read for something that is no longer shown neither holds a refresh up nor makes it go on for ever", async () => {
  const { client, reads, close } = openPage()
  close()
  await createWorkspaceRefresh(client, "sess_1")()
  expect(reads).toHaveLength(1)
})

test("changes told during a refresh are read by one more, not by one each", async () => {
  const { client, reads, shown, close } = openPage()
  reads[0]?.("at first")
  await expect.poll(shown).toBe("at first")
  const refresh = createWorkspaceRefresh(client, "sess_1")
  const refreshed = refresh()
  await Promise.all([refresh(), refresh(), refresh()])
  expect(reads).toHaveLength(2)
  reads[1]?.("then")
  await expect.poll(() => reads.length).toBe(3)
  reads[2]?.("last")
  await refreshed
  expect(reads).toHaveLength(3)
  expect(shown()).toBe("last")
  close()
})
