import { EditRefusedError, StorageFullError } from '../domain/errors.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import { problemText } from '../resources/resource.ts'
import { type AppliedResources, type IsTargetBlocked, resolveResources } from './applied-resources.ts'
import type { FolderFiles } from './files/folder-files.ts'
import type { FolderAudit } from './folder-audit.ts'
import { type FolderProblem, setAside } from './folder-problem.ts'
import {
  changeBetween,
  cronKey,
  EMPTY_SNAPSHOT,
  type FolderChange,
  type FolderSnapshot,
  keysOf,
  NO_REFUSALS,
  queueKey,
  type Refusals,
  tokenKey,
  withInterrupted,
  withFailedRemovals,
} from './folder-snapshot.ts'

/** Applies a change and answers what was refused. Rejects when it does not know how much was applied. */
export type ApplyChange = (change: FolderChange) => Promise<Refusals>

const LOGGED_NAMES_MAX = 20
/**
 * What threw while it was applied will most likely throw again, so while the folder stays the same it is retried this
 * seldom.
 */
const FAULTS_AGAIN_MS = 30_000

/**
 * Applies what the folder says and is not applied yet. Owns the snapshot that was applied last. Refused parts, and all
 * of an interrupted change, belong to every further change until they are applied, or undone once the folder no longer
 * has them. What threw is a problem of its resource, and is tried again at the next change, or after FAULTS_AGAIN_MS.
 */
export class FolderApplier {
  readonly #files: FolderFiles
  readonly #logger: Logger
  readonly #audit: FolderAudit
  readonly #clock: Clock
  readonly #logProblems: (problems: readonly FolderProblem[]) => void
  #applyChange: ApplyChange = () => Promise.resolve(NO_REFUSALS)
  #before = EMPTY_SNAPSHOT
  readonly #resolve: (before: FolderSnapshot) => AppliedResources
  #resources: AppliedResources
  #uncertain: ReadonlySet<string> | 'all' = 'all'
  #refusals = NO_REFUSALS
  #appliedAtMs = 0
  #appliedVersion = -1
  #savedVersion = -1

  constructor(
    files: FolderFiles,
    parts: {
      readonly logger: Logger
      readonly audit: FolderAudit
      readonly clock: Clock
      readonly isTargetBlocked: IsTargetBlocked
    },
  ) {
    const { logger, audit, clock, isTargetBlocked } = parts
    this.#files = files
    this.#audit = audit
    this.#clock = clock
    this.#resolve = (before) => resolveResources(files.all(), before, isTargetBlocked)
    this.#resources = resolveResources([], EMPTY_SNAPSHOT, isTargetBlocked)
    this.#logger = logger
    this.#logProblems = createProblemLog(logger)
  }

  get resources(): AppliedResources {
    return this.#resources
  }

  /** What Redis or the folder's rules refused of the last change. */
  get refusals(): Refusals {
    return this.#refusals
  }

  /** Takes over what the previous run applied. */
  start(applyChange: ApplyChange): void {
    this.#applyChange = applyChange
    this.#before = this.#resolve(EMPTY_SNAPSHOT).snapshot
    this.#audit.start(this.#before)
  }

  problems(): readonly FolderProblem[] {
    return [...this.#files.problems(), ...this.#resources.problems, ...this.#faults()]
  }

  /** Lists the resources that a defect kept from being applied, not a full Redis or a name that somebody else has. */
  #faults(): readonly FolderProblem[] {
    return [...this.#refusals].flatMap(([key, error]) => {
      const placed = this.#resources.places.get(key)
      if (placed === undefined || !isFault(error)) return []
      return [setAside(placed, `cannot be applied: ${error.message}.`)]
    })
  }

  /** Tells whether anything was refused that may be accepted by now. */
  #isRefusalDue(): boolean {
    const areFaultsDue = this.#clock.monotonicMs() - this.#appliedAtMs >= FAULTS_AGAIN_MS
    return [...this.#refusals.values()].some((error) => areFaultsDue || !isFault(error))
  }

  /**
   * Applies the difference. Rejects as `ApplyChange` does.
   * @param isOwn whether the API has changed the files, and nobody else since the last scan
   */
  async apply({ isOwn }: { readonly isOwn: boolean }): Promise<void> {
    const { version } = this.#files
    const former = this.#resources.snapshot
    if (version !== this.#appliedVersion) {
      this.#resources = this.#resolve(this.#before)
    }
    this.#logProblems(this.problems())
    if (version === this.#appliedVersion && !this.#isRefusalDue()) return this.#audit.write()
    const { snapshot } = this.#resources
    const change = changeBetween(this.#before, snapshot, this.#uncertain)
    try {
      this.#refusals = await this.#send(change)
    } catch (error) {
      // A later call applies the change, and will not know whose it is.
      if (isOwn) this.#audit.keepOwn(former, snapshot)
      throw error
    }
    this.#appliedAtMs = this.#clock.monotonicMs()
    this.#logProblems(this.problems())
    this.#audit.note(snapshot, { refused: this.#refusals, isOwn })
    await this.#audit.write()
    // The snapshot includes what was refused: parts of it may be applied, and must be undone once the folder drops it.
    this.#before = withFailedRemovals(this.#before, snapshot, faultsIn(this.#refusals))
    this.#uncertain = new Set(this.#refusals.keys())
    this.#appliedVersion = version
    await this.#save(version)
  }

  async #send(change: FolderChange): Promise<Refusals> {
    const isStart = this.#uncertain === 'all'
    const keys = keysOf(change)
    if (!isStart && keys.length === 0) return NO_REFUSALS
    try {
      const refusals = await this.#applyChange(change)
      // The first change holds everything, so it is not worth a line.
      if (!isStart) logChange(change, refusals, this.#logger)
      return refusals
    } catch (error) {
      this.#uncertain = this.#uncertain === 'all' ? 'all' : new Set([...this.#uncertain, ...keys])
      this.#before = withInterrupted(this.#before, change)
      throw error
    }
  }

  async #save(version: number): Promise<void> {
    if (version === this.#savedVersion) return
    try {
      await this.#files.save()
      this.#savedVersion = version
    } catch (error) {
      this.#logger.warn('The applied manifests could not be saved for the next start', { error })
    }
  }
}

function faultsIn(refusals: Refusals): Refusals {
  return new Map([...refusals].filter(([, error]) => isFault(error)))
}

function isFault(error: Error): boolean {
  return !(error instanceof StorageFullError || error instanceof EditRefusedError)
}

/** Logs each problem once for as long as it lasts. */
function createProblemLog(logger: Logger): (problems: readonly FolderProblem[]) => void {
  let logged = new Set<string>()
  return (problems) => {
    const now = new Set(problems.map(problemText))
    for (const text of now) {
      if (!logged.has(text)) logger.warn('A manifest has a problem', { problem: text })
    }
    if (logged.size > 0 && now.size === 0) logger.info('All manifests are applied again')
    logged = now
  }
}

function logChange(change: FolderChange, refused: Refusals, logger: Logger): void {
  const applied = [
    ...change.teams.map(({ team }) => `TeamSettings of ${team}`),
    ...change.tokens.filter((token) => !refused.has(tokenKey(token))).map(({ name }) => `ApiToken ${name}`),
    ...change.windows.map(({ name }) => `maintenance window ${name}`),
    ...change.queues.filter((queue) => !refused.has(queueKey(queue))).map(({ name }) => `queue ${name}`),
    ...change.crons.filter((cron) => !refused.has(cronKey(cron))).map(({ name }) => `cron ${name}`),
  ]
  const removed = [
    ...change.removedTeams.map((team) => `TeamSettings of ${team}`),
    ...change.removedTokens.map(({ name }) => `ApiToken ${name}`),
    ...change.removedWindows.map(({ name }) => `maintenance window ${name}`),
    ...change.removedCrons.map(({ name }) => `cron ${name}`),
    ...change.removedQueues.map(({ name }) => `queue ${name}, with all its jobs`),
  ]
  if (applied.length > 0) logger.info('Changed manifests are applied', shortened(applied))
  if (removed.length > 0) logger.info('Resources of removed manifests are deleted', shortened(removed))
}

function shortened(names: readonly string[]): { readonly what: string; readonly more?: number } {
  const what = names.slice(0, LOGGED_NAMES_MAX).join('; ')
  return names.length > LOGGED_NAMES_MAX ? { what, more: names.length - LOGGED_NAMES_MAX } : { what }
}
