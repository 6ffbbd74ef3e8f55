import type { Evidence, Finding } from "../evidence"
import { checkLabels, checkProcesses, checkStates } from "./agents"
import { checkAccepted, checkDelivered, checkFiles, checkText, checkTokens } from "./delivery"
import { checkJournal, checkRuns } from "./journal"
import { checkRows } from "./rows"
import { checkTerminalProcesses, checkTerminals } from "./terminals"

/** Everything design 1 promises, held against everything that is known. */
export function check(evidence: Evidence): Finding[] {
  const ofAll = [checkAccepted, checkDelivered, checkTokens, checkProcesses, checkStates, checkTerminals, checkTerminalProcesses].flatMap(
    (one) => one(evidence),
  )
  const ofEach = evidence.sessions.flatMap((session) => {
    // What a damaged row said is not known any more, neither to a reader nor to these.
    const ofWords = session.session.damaged.size > 0 ? [] : [checkText, checkLabels]
    return [checkJournal, checkRuns, ...ofWords, checkFiles, checkRows].flatMap((one) => one(session))
  })
  return [...ofAll, ...ofEach]
}
