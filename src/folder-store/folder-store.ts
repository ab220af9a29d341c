import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { access, constants, mkdir, realpath } from 'node:fs/promises'
import { StartupError } from '../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { problemText } from '../resources/resource.ts'
import type { CronSettings } from '../domain/cron.ts'
import type { QueueSettings } from '../domain/queue-settings.ts'
import { writeCronEdit, writeCronRemoval } from './cron-edits.ts'
import type { CronEdit } from './cron-edits.ts'
import { createFolderFiles } from './folder-files.ts'
import type { FolderFiles } from './folder-files.ts'
import type { FolderProblem } from './folder-problem.ts'
import type { FolderFault } from './folder-scanner.ts'
import { changeBetween, EMPTY_SNAPSHOT, isEmptyChange, keysOf, withAttempt } from './folder-snapshot.ts'
import type { FolderChange, FolderSnapshot } from './folder-snapshot.ts'
import { inForceOf } from './in-force.ts'
import type { InForce } from './in-force.ts'
import type { EditResult, RefusedEdit, Removal } from './manifest-edits.ts'
import { writeQueueEdit, writeQueueRemoval } from './queue-edits.ts'
import type { QueueEdit } from './queue-edits.ts'
import { openStoreId } from './store-id.ts'
import { createTurns } from './turns.ts'
import { removeDrafts } from './whole-file.ts'

/** Resources kept as a folder of manifests. */
export interface FolderStore {
  /** Lies in the folder; Redis must know the same one, or the folder is not the one it was filled from. */
  readonly storeId: string
  /**
   * Puts the folder in force and goes on watching it. `onChange` is called with one change at a time, first with
   * all there is; a change it rejects is told again, with whatever came meanwhile, until it is taken. It may be told
   * more than once. Resolves when the first change is taken; rejects when that is rejected. A file that has gone
   * missing since the last run makes it wait for two seconds.
   */
  start(onChange: (change: FolderChange) => Promise<void>): Promise<void>
  /** What the folder says, as far as it is valid. */
  snapshot(): FolderSnapshot
  /** What is wrong now; what is in force does not suffer from it. */
  problems(): readonly FolderProblem[]
  /** Looks at the folder at once; resolves when what is due is in force. Rejects as `onChange` does. */
  look(): Promise<void>
  /** Changes a queue's manifest, or writes its first one, and puts it in force. Rejects as `onChange` does. */
  editQueue(edit: QueueEdit): Promise<EditResult<QueueSettings>>
  /** Removes a queue's manifest, and by `onChange` the queue. Rejects as `onChange` does. */
  removeQueue(queue: { readonly team: string; readonly name: string }): Promise<Removal>
  /** As `editQueue`, for a cron. */
  editCron(edit: CronEdit): Promise<EditResult<CronSettings>>
  /** As `removeQueue`, for a cron. */
  removeCron(cron: { readonly team: string; readonly name: string }): Promise<Removal>
  /** Watches no more; resolves when nothing is under way. May be called twice. */
  stop(): Promise<void>
}

export interface FolderStoreOptions {
  readonly folder: string
  /** The team of manifests without a namespace. */
  readonly team: string
  /** Where good versions are kept from one start to the next, outside the folder; null = nowhere. */
  readonly statePath: string | null
  readonly logger: Logger
  readonly clock: Clock
}

const POLL_MS = 500
/** After a hint: editors do several things at once. */
const HINT_MS = 50
/** Names in one line of the log. */
const TOLD_MAX = 20

/**
 * Makes the folder and its store id when they are missing; reads no manifest yet.
 * @throws StartupError when the folder cannot be used
 */
export async function openFolderStore(options: FolderStoreOptions): Promise<FolderStore> {
  const folder = await openFolder(options.folder)
  const storeId = await openStoreId(folder)
  const { clock } = options
  const files = createFolderFiles({
    ...options,
    folder,
    storeId,
    nowMs: () => clock.monotonicMs(),
    wallMs: () => clock.wallMs(),
  })
  const applier = createApplier(files, options.logger)
  const inTurn = createTurns()
  const parts = { folder, team: options.team, files }
  let watching: { stop(): void } | null = null

  const look = async (): Promise<number | null> => {
    const dueInMs = await files.look(false)
    await applier.apply()
    return dueInMs
  }
  const { write, remove } = createWrites(files, async () => void (await look()), applier)
  return {
    storeId,
    start: (onChange) =>
      inTurn(async () => {
        await files.load()
        applier.begin(onChange)
        for (let dueInMs = await files.look(true); dueInMs !== null; dueInMs = await files.look(true)) {
          await new Promise<void>((resolve) => void clock.after(dueInMs ?? 0, resolve))
        }
        await applier.apply()
        watching = watchFolder(folder, clock, () => inTurn(look), options.logger)
      }),
    snapshot: () => applier.inForce().snapshot,
    problems: () => applier.problems(),
    look: async () => void (await inTurn(look)),
    editQueue: (edit) => inTurn(() => write(() => writeQueueEdit(parts, applier.inForce(), edit))),
    removeQueue: (queue) => inTurn(() => remove(() => writeQueueRemoval(parts, applier.inForce(), queue))),
    editCron: (edit) => inTurn(() => write(() => writeCronEdit(parts, applier.inForce(), edit))),
    removeCron: (cron) => inTurn(() => remove(() => writeCronRemoval(parts, cron))),
    stop: () => {
      watching?.stop()
      return inTurn(() => Promise.resolve(watching?.stop()))
    },
  }
}

interface Writes {
  write<T>(run: () => Promise<T>): Promise<T | RefusedEdit>
  remove(run: () => Promise<Removal>): Promise<Removal>
}

/** Looks at the folder, writes and puts that in force; refused while the folder cannot be used. */
function createWrites(files: FolderFiles, look: () => Promise<void>, applier: Applier): Writes {
  const written = async <T>(run: () => Promise<T>): Promise<T> => {
    const result = await run()
    await applier.apply()
    return result
  }
  return {
    write: async (run) => {
      await look()
      const fault = files.fault()
      return fault === null ? written(run) : refusedBy(fault)
    },
    // What mends an overfull folder must get through. Not all of it is known: what is not found may be there.
    remove: async (run) => {
      await look()
      const fault = files.fault()
      if (fault?.kind === 'unusable') return refusedBy(fault)
      const result = await written(run)
      return fault !== null && result.status === 'not_found' ? refusedBy(fault) : result
    },
  }
}

function refusedBy({ reason }: FolderFault): RefusedEdit {
  return { status: 'refused', reason: `The folder of manifests ${reason}` }
}

async function openFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    const folder = await realpath(path)
    await access(folder, constants.R_OK | constants.X_OK)
    await removeDrafts(folder).catch(() => undefined)
    return folder
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const text = `The folder of manifests ${path} cannot be used (${reason}): make it a folder that can be read, or set PUNCTUAL_MANIFESTS to another one.`
    throw new StartupError(text, { cause: error })
  }
}

interface Applier {
  begin(onChange: (change: FolderChange) => Promise<void>): void
  /** Tells what differs from what is in force. */
  apply(): Promise<void>
  inForce(): InForce
  problems(): readonly FolderProblem[]
}

function createApplier(files: FolderFiles, logger: Logger): Applier {
  let onChange = (_change: FolderChange): Promise<void> => Promise.resolve()
  let before: FolderSnapshot = EMPTY_SNAPSHOT
  let inForce: InForce = inForceOf([], EMPTY_SNAPSHOT)
  let unsure: ReadonlySet<string> | 'all' = 'all'
  let told = new Set<string>()
  /** The version of the files that was taken last. */
  let applied = -1

  const problems = () => [...files.problems(), ...inForce.problems]
  const tellProblems = (): void => {
    const now = new Set(problems().map(problemText))
    for (const text of now) if (!told.has(text)) logger.warn('A manifest is not in force', { problem: text })
    if (told.size > 0 && now.size === 0) logger.info('Every manifest is in force again')
    told = now
  }
  const save = async (): Promise<void> => {
    try {
      await files.save()
    } catch (error) {
      logger.warn('What is in force could not be noted for the next start', { error })
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
      tellProblems()
      if (version === applied) return
      const change = changeBetween(before, inForce.snapshot, unsure)
      if (unsure === 'all' || !isEmptyChange(change)) {
        try {
          await onChange(change)
          if (unsure !== 'all') tellChange(change, logger)
        } catch (error) {
          unsure = unsure === 'all' ? 'all' : new Set([...unsure, ...keysOf(change)])
          before = withAttempt(before, change)
          throw error
        }
      }
      before = inForce.snapshot
      unsure = new Set()
      applied = version
      await save()
    },
    inForce: () => inForce,
    problems,
  }
}

/** What a person at the log has done to the folder; the start, which takes everything, is not told. */
function tellChange(change: FolderChange, logger: Logger): void {
  const now = [
    ...change.teams.map(({ team }) => `TeamSettings of ${team}`),
    ...change.tokens.map(({ name }) => `ApiToken ${name}`),
    ...change.queues.map(({ name }) => `queue ${name}`),
    ...change.crons.map(({ name }) => `cron ${name}`),
  ]
  const gone = [
    ...change.removedTeams.map((team) => `TeamSettings of ${team}`),
    ...change.removedTokens.map(({ name }) => `ApiToken ${name}`),
    ...change.removedCrons.map(({ name }) => `cron ${name}`),
    ...change.removedQueues.map(({ name }) => `queue ${name}, with all its jobs`),
  ]
  if (now.length > 0) logger.info('Changed manifests are in force', told(now))
  if (gone.length > 0) logger.info('Manifests are gone, and what they made is deleted', told(gone))
}

function told(names: readonly string[]): { readonly what: string; readonly more?: number } {
  const what = names.slice(0, TOLD_MAX).join('; ')
  return names.length > TOLD_MAX ? { what, more: names.length - TOLD_MAX } : { what }
}

/** Looks by the clock, and soon after a hint of the system; hints may be missing (network folders, containers). */
function watchFolder(
  folder: string,
  clock: Clock,
  look: () => Promise<number | null>,
  logger: Logger,
): { stop(): void } {
  let isStopped = false
  let isHinted = false
  let lastReason = ''
  let cancel = (): void => undefined
  const lookLater = (delayMs: number): void => {
    cancel()
    if (!isStopped) cancel = clock.after(delayMs, lookNow)
  }
  const lookNow = (): void => {
    isHinted = false
    look().then(
      (dueInMs) => {
        lastReason = ''
        lookLater(Math.min(POLL_MS, dueInMs ?? POLL_MS))
      },
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        if (reason !== lastReason) logger.error('Changed manifests could not be put in force yet', { reason })
        lastReason = reason
        lookLater(POLL_MS)
      },
    )
  }
  const hints = hintsOf(folder, () => {
    // Hints that never end must not put the look off for ever.
    if (!isHinted) lookLater(HINT_MS)
    isHinted = true
  })
  lookLater(POLL_MS)
  return {
    stop: () => {
      isStopped = true
      cancel()
      hints?.close()
    },
  }
}

function hintsOf(folder: string, onHint: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onHint)
    // The looks by the clock go on without it.
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}
