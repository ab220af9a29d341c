import { problemText } from '../resources/resource.ts'
import type { Logger } from '../ports/runtime.ts'
import type { FolderFiles } from './files/folder-files.ts'
import type { FolderProblem } from './folder-problem.ts'
import {
  changeBetween,
  cronKey,
  EMPTY_SNAPSHOT,
  isEmptyChange,
  keysOf,
  NO_REFUSALS,
  queueKey,
  withAttempt,
} from './folder-snapshot.ts'
import type { FolderChange, FolderSnapshot, Refusals } from './folder-snapshot.ts'
import { inForceOf } from './applied-resources.ts'
import type { InForce } from './applied-resources.ts'

/** Puts a change in force but for what it answers; rejects when it does not know how far it came. */
export type OnChange = (change: FolderChange) => Promise<Refusals>

/**
 * Tells what the folder says that is not in force. It owns what was told last; what was refused, and all of a change
 * that broke off, is told again at each `apply` until it is taken, or undone when the folder no longer says it.
 */
export interface Applier {
  begin(onChange: OnChange): void
  /** Tells what differs from what is in force. */
  apply(): Promise<void>
  inForce(): InForce
  problems(): readonly FolderProblem[]
  /** What the last change did not get. */
  refusals(): Refusals
}

/** Names in one line of the log. */
const TOLD_MAX = 20

export function createApplier(files: FolderFiles, logger: Logger): Applier {
  let onChange: OnChange = () => Promise.resolve(NO_REFUSALS)
  let before: FolderSnapshot = EMPTY_SNAPSHOT
  let inForce: InForce = inForceOf([], EMPTY_SNAPSHOT)
  let unsure: ReadonlySet<string> | 'all' = 'all'
  let refusals: Refusals = NO_REFUSALS
  /** The versions of the files that were taken, and noted for the next start, last. */
  let applied = -1
  let saved = -1

  const tellProblems = createProblemTeller(logger)
  const problems = () => [...files.problems(), ...inForce.problems]
  const save = async (version: number): Promise<void> => {
    if (version === saved) return
    try {
      await files.save()
      saved = version
    } catch (error) {
      logger.warn('What is in force could not be noted for the next start', { error })
    }
  }
  const tell = async (change: FolderChange): Promise<Refusals> => {
    if (unsure !== 'all' && isEmptyChange(change)) return NO_REFUSALS
    try {
      const refused = await onChange(change)
      if (unsure !== 'all') tellChange(change, refused, logger)
      return refused
    } catch (error) {
      unsure = unsure === 'all' ? 'all' : new Set([...unsure, ...keysOf(change)])
      before = withAttempt(before, change)
      throw error
    }
  }
  return {
    begin: (listener) => {
      onChange = listener
      before = inForceOf(files.all(), EMPTY_SNAPSHOT).snapshot
    },
    apply: async () => {
      const version = files.version()
      if (version !== applied) inForce = inForceOf(files.all(), before)
      tellProblems(problems())
      if (version === applied && refusals.size === 0) return
      refusals = await tell(changeBetween(before, inForce.snapshot, unsure))
      // With what was refused: some of it may be in force, and must go when the folder no longer says it.
      before = inForce.snapshot
      unsure = new Set(refusals.keys())
      applied = version
      await save(version)
    },
    inForce: () => inForce,
    problems,
    refusals: () => refusals,
  }
}

/** Says each problem once, for as long as it lasts. */
function createProblemTeller(logger: Logger): (problems: readonly FolderProblem[]) => void {
  let told = new Set<string>()
  return (problems) => {
    const now = new Set(problems.map(problemText))
    for (const text of now) if (!told.has(text)) logger.warn('A manifest is not in force', { problem: text })
    if (told.size > 0 && now.size === 0) logger.info('Every manifest is in force again')
    told = now
  }
}

/** What a person at the log has done to the folder; the start, which takes everything, is not told. */
function tellChange(change: FolderChange, refused: Refusals, logger: Logger): void {
  const now = [
    ...change.teams.map(({ team }) => `TeamSettings of ${team}`),
    ...change.tokens.map(({ name }) => `ApiToken ${name}`),
    ...change.queues.filter((queue) => !refused.has(queueKey(queue))).map(({ name }) => `queue ${name}`),
    ...change.crons.filter((cron) => !refused.has(cronKey(cron))).map(({ name }) => `cron ${name}`),
  ]
  const gone = [
    ...change.removedTeams.map((team) => `TeamSettings of ${team}`),
    ...change.removedTokens.map(({ name }) => `ApiToken ${name}`),
    ...change.removedCrons.map(({ name }) => `cron ${name}`),
    ...change.removedQueues.map(({ name }) => `queue ${name}, with all its jobs`),
  ]
  if (now.length > 0) logger.info('Changed manifests are in force', shown(now))
  if (gone.length > 0) logger.info('Manifests are gone, and what they made is deleted', shown(gone))
}

function shown(names: readonly string[]): { readonly what: string; readonly more?: number } {
  const what = names.slice(0, TOLD_MAX).join('; ')
  return names.length > TOLD_MAX ? { what, more: names.length - TOLD_MAX } : { what }
}
