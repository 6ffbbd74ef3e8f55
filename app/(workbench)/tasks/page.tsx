import { NewTask } from "@/components/task/new-task"

export default function TasksPage() {
  return <NewTask />
}
