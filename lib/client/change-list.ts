import type { ChangedFile, Changes, CommentView, TaskCommit } from "@/lib/contracts/workspace"

/** The changes of a workspace as a page lists them. Pure: the panel and the tests ask here. */

export type FileChange = { readonly key: string; readonly of: string; readonly file: ChangedFile }
export type ChangeGroup = {
  readonly key: string
  readonly title: string
  readonly commit: TaskCommit | null
  readonly files: readonly FileChange[]
}

/** More changed lines than this are folded until somebody asks for them. */
export const LARGE_CHANGE_LINES = 600
const GENERATED = /(^|\/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|poetry\.lock|go\.sum|composer\.lock|Gemfile\.lock)$/

export const changedLines = ({ added, removed }: ChangedFile) => (added ?? 0) + (removed ?? 0)
export const isLarge = (file: ChangedFile) => changedLines(file) > LARGE_CHANGE_LINES || GENERATED.test(file.path)

const keyOf = (of: string, { path }: ChangedFile) => `${of} ${path}`
const group = (key: string, title: string, of: string, files: readonly ChangedFile[], commit: TaskCommit | null = null): ChangeGroup => ({
  key,
  title,
  commit,
  files: files.map((file) => ({ key: keyOf(of, file), of, file })),
})

/** In the order a person acts on them: what is in the way first, what is done last. */
export function groupChanges(changes: Changes): ChangeGroup[] {
  return [
    group("conflicts", "Conflicts", "unstaged", changes.conflicts),
    group("staged", "Staged", "staged", changes.staged),
    group("unstaged", "Unstaged", "unstaged", changes.unstaged),
    group("untracked", "Untracked", "untracked", changes.untracked),
    ...changes.commits.map((commit) => group(commit.id, commit.subject || "No message", commit.id, commit.files, commit)),
  ].filter(({ files, commit }) => files.length > 0 || commit !== null)
}

/** How many files the task has changed, each counted once. */
export function countChanged(changes: Changes): number {
  const { conflicts, staged, unstaged, untracked, commits } = changes
  const files = [...conflicts, ...staged, ...unstaged, ...untracked, ...commits.flatMap((commit) => commit.files)]
  return new Set(files.map(({ path }) => path)).size
}

export function sumLines(files: readonly ChangedFile[]): { added: number; removed: number } {
  return files.reduce((sum, file) => ({ added: sum.added + (file.added ?? 0), removed: sum.removed + (file.removed ?? 0) }), {
    added: 0,
    removed: 0,
  })
}

export const isDraft = (comment: CommentView) => comment.prompt_id === null

/** A line a comment can stand at. */
export type Spot = { readonly side: "old" | "new"; readonly line: number; readonly text: string }

/**
 * Where each comment of a file stands now. Its own line if that still says what it said; else the nearest line that does, for the
 * agent moves lines; else nowhere, and it is shown at the head of its file.
 */
export function placeComments(comments: readonly CommentView[], spots: readonly Spot[]): Map<CommentView, number | null> {
  const places = new Map<CommentView, number | null>()
  for (const comment of comments) {
    let best: number | null = null
    let distance = Number.POSITIVE_INFINITY
    spots.forEach((spot, at) => {
      const away = Math.abs(spot.line - comment.line)
      if (spot.side === comment.side && spot.text.slice(0, comment.line_text.length) === comment.line_text && away < distance) {
        best = at
        distance = away
      }
    })
    places.set(comment, best)
  }
  return places
}
