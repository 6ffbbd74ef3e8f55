import { NewTask } from "@/components/task/new-task"

export default function NewTaskPage() {
  return <NewTask />
}
