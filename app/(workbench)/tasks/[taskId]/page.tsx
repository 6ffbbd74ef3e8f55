import { OpenTask } from "@/components/task/open-task"

export default async function TaskPage({ params }: { params: Promise<{ taskId: string }> }) {
  const { taskId } = await params
  return <OpenTask taskId={Number(taskId)} />
}
