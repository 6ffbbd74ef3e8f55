import { SessionScreen } from "@/components/session/session-screen"

export default async function SessionPage({ params }: { params: Promise<{ taskId: string; sessionId: string }> }) {
  const { taskId, sessionId } = await params
  return <SessionScreen key={sessionId} taskId={Number(taskId)} sessionId={sessionId} />
}
