import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { access, constants, mkdir, realpath } from 'node:fs/promises'
import { reasonOf, StartupError } from '../domain/errors.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import type { CronSettings } from '../domain/crons/cron.ts'
import type { QueueSettings } from '../domain/jobs/queue-settings.ts'
import { writeCronEdit, writeCronRemoval } from './edits/cron-edits.ts'
import type { CronEdit } from './edits/cron-edits.ts'
import { createFolderFiles } from './files/folder-files.ts'
import type { FolderFiles } from './files/folder-files.ts'
import type { FolderProblem } from './folder-problem.ts'
import type { FolderFault } from './files/folder-scanner.ts'
import { createApplier } from './folder-applier.ts'
import type { Applier, OnChange } from './folder-applier.ts'
import type { FolderSnapshot, Refusals } from './folder-snapshot.ts'
import type { EditResult, RefusedEdit, Removal, WrittenEdit } from './edits/manifest-edits.ts'
import { writeQueueEdit, writeQueueRemoval } from './edits/queue-edits.ts'
import type { QueueEdit } from './edits/queue-edits.ts'
import { openStoreId } from './files/store-id.ts'
import { createMutex } from '../domain/mutex.ts'
import { removeDrafts } from './files/whole-file.ts'

/** Resources kept as a folder of manifests. */
export interface FolderStore {
  /** Lies in the folder; Redis must know the same one, or the folder is not the one it was filled from. */
  readonly storeId: string
  /**
   * Puts the folder in force and goes on watching it. `onChange` is called with one change at a time, first with
   * all there is; a change it rejects is told again, with whatever came meanwhile, until it is taken. It may be told
   * more than once; so is what it answers as refused, alone. Resolves when the first change is taken; rejects when
   * that is rejected. A file that has gone missing since the last run makes it wait for two seconds.
   */
  start(onChange: OnChange): Promise<void>
  /** What the folder says, as far as it is valid. */
  snapshot(): FolderSnapshot
  /** What is wrong now; what is in force does not suffer from it. */
  problems(): readonly FolderProblem[]
  /** Looks at the folder at once; resolves when what is due is in force. Rejects as `onChange` does. */
  look(): Promise<void>
  /**
   * Changes a queue's manifest, or writes its first one, and puts it in force. Rejects as `onChange` does, or with what
   * it refuses; then the manifest is as it was, and whatever of the edit may be in force is taken back at the next look.
   */
  editQueue(edit: QueueEdit): Promise<EditResult<QueueSettings>>
  /** Removes a queue's manifest, and by `onChange` the queue. Rejects as `onChange` does, to be done at a later look. */
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
  const mutex = createMutex()
  const parts = { folder, team: options.team, files }
  let watching: { stop(): void } | null = null

  const look = async (): Promise<number | null> => {
    const dueInMs = await files.look(false)
    await applier.apply()
    return dueInMs
  }
  const { write, remove } = createWrites({
    files,
    look: async () => void (await look()),
    applier,
    logger: options.logger,
  })
  return {
    storeId,
    start: (onChange) =>
      mutex(async () => {
        await files.load()
        applier.begin(onChange)
        for (let dueInMs = await files.look(true); dueInMs !== null; dueInMs = await files.look(true)) {
          await new Promise<void>((resolve) => void clock.after(dueInMs ?? 0, resolve))
        }
        await applier.apply()
        watching = watchFolder({ folder, clock, look: () => mutex(look), applier, logger: options.logger })
      }),
    snapshot: () => applier.inForce().snapshot,
    problems: () => applier.problems(),
    look: async () => void (await mutex(look)),
    editQueue: (edit) => mutex(() => write(() => writeQueueEdit(parts, applier.inForce(), edit))),
    removeQueue: (queue) => mutex(() => remove(() => writeQueueRemoval(parts, applier.inForce(), queue))),
    editCron: (edit) => mutex(() => write(() => writeCronEdit(parts, applier.inForce(), edit))),
    removeCron: (cron) => mutex(() => remove(() => writeCronRemoval(parts, cron))),
    stop: () => {
      watching?.stop()
      return mutex(() => Promise.resolve(watching?.stop()))
    },
  }
}

interface Writes {
  write<T>(run: () => Promise<WrittenEdit<T> | RefusedEdit>): Promise<EditResult<T>>
  remove(run: () => Promise<Removal>): Promise<Removal>
}

/** Looks at the folder, writes and puts that in force; refused while the folder cannot be used. */
function createWrites({
  files,
  look,
  applier,
  logger,
}: {
  files: FolderFiles
  look: () => Promise<void>
  applier: Applier
  logger: Logger
}): Writes {
  const putInForce = async (key: string): Promise<void> => {
    await applier.apply()
    const refusal = applier.refusals().get(key)
    if (refusal !== undefined) throw refusal
  }
  const undo = async (written: WrittenEdit<unknown>): Promise<void> => {
    try {
      await written.undo()
    } catch (error) {
      logger.error('An edit that was refused stands in its manifest and is tried again', { error })
    }
  }
  return {
    write: async (run) => {
      await look()
      const fault = files.fault()
      if (fault !== null) return refusedBy(fault)
      const written = await run()
      if (written.status === 'refused') return written
      try {
        await putInForce(written.key)
      } catch (error) {
        // Who is told that it is not done must not find it done later.
        await undo(written)
        throw error
      }
      return { status: 'edited', settings: written.settings }
    },
    // What mends an overfull folder must get through. Not all of it is known: what is not found may be there.
    remove: async (run) => {
      await look()
      const fault = files.fault()
      if (fault?.kind === 'unusable') return refusedBy(fault)
      const result = await run()
      await applier.apply()
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
    const reason = reasonOf(error)
    const text = `The folder of manifests ${path} cannot be used (${reason}): make it a folder that can be read, or set PUNCTUAL_MANIFESTS to another one.`
    throw new StartupError(text, { cause: error })
  }
}

/** Looks by the clock, and soon after a hint of the system; hints may be missing (network folders, containers). */
function watchFolder({
  folder,
  clock,
  look,
  applier,
  logger,
}: {
  folder: string
  clock: Clock
  look: () => Promise<number | null>
  applier: Pick<Applier, 'refusals'>
  logger: Logger
}): { stop(): void } {
  let isStopped = false
  let isHinted = false
  let lastReason = ''
  let cancel = (): void => undefined
  const lookLater = (delayMs: number): void => {
    cancel()
    if (!isStopped) cancel = clock.after(delayMs, lookNow)
  }
  const tell = (reason: string): void => {
    if (reason !== '' && reason !== lastReason) {
      logger.error('Changed manifests could not be put in force yet', { reason })
    }
    lastReason = reason
  }
  const lookNow = (): void => {
    isHinted = false
    look().then(
      (dueInMs) => {
        tell(refusedText(applier.refusals()))
        lookLater(Math.min(POLL_MS, dueInMs ?? POLL_MS))
      },
      (error: unknown) => {
        tell(reasonOf(error))
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

/** '' when nothing is refused. */
function refusedText(refusals: Refusals): string {
  const [first] = refusals
  if (first === undefined) return ''
  const [key, { message }] = first
  return `${key}: ${message}${refusals.size > 1 ? ` And ${refusals.size - 1} more.` : ''}`
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
