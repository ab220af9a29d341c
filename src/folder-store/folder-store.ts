import { access, constants, mkdir, realpath } from 'node:fs/promises'
import { EditRefusedError, reasonOf, StartupError } from '../domain/errors.ts'
import { createMutex, type Mutex } from '../domain/mutex.ts'
import type { AuditLog } from '../ports/access/audit-log.ts'
import type { KubeObject, ResourceStore } from '../ports/resource-store.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import { createFolderKind, type FolderAccess, type FolderKindName } from './edits/folder-kind.ts'
import type { WrittenEdit } from './edits/manifest-edits.ts'
import { removeDrafts } from './files/atomic-file.ts'
import { FolderFiles } from './files/folder-files.ts'
import type { FolderFault } from './files/folder-scanner.ts'
import { openStoreId } from './files/store-id.ts'
import type { IsTargetBlocked } from './applied-resources.ts'
import { type ApplyChange, FolderApplier } from './folder-applier.ts'
import { FolderAudit } from './folder-audit.ts'
import type { FolderProblem } from './folder-problem.ts'
import { queueKey, type FolderSnapshot } from './folder-snapshot.ts'
import { type FolderObject, objectOf } from './folder-object.ts'
import { FolderWatcher } from './folder-watcher.ts'

/** Keeps resources as a folder of manifests. Calls run one after another. */
export interface FolderStore {
  /** Identifies the folder, as Redis knows which one it was filled from. */
  readonly storeId: string
  /**
   * Applies the folder and watches it. `applyChange` gets one change at a time, the first with everything; a change that
   * it rejects, and what it refuses, is part of the next one. Resolves once the first change is applied and rejects when
   * that is rejected. A file that is missing since the previous run delays it by two seconds.
   */
  start(applyChange: ApplyChange): Promise<void>
  /** The valid resources of the folder. */
  snapshot(): FolderSnapshot
  /** Lists what is wrong now. What is applied stays applied. */
  problems(): readonly FolderProblem[]
  /** Scans the folder now and applies what is due. Rejects as `applyChange` does. */
  sync(): Promise<void>
  /**
   * Reads and writes the resources of a kind. A write is answered once it is applied. One that cannot be applied
   * rejects as `applyChange` does, or with what was refused: the manifest is then as before, and the next sync undoes
   * what was applied of it. A removal is tried again instead. Throws EditRefusedError with the reason why the folder
   * cannot be written.
   */
  kind<T extends KubeObject>(kind: FolderKindName): ResourceStore<T>
  /** Lists the HttpQueues of a queue name as they were applied last, the one in force first. */
  queuesNamed(team: string, queueName: string): readonly FolderObject[]
  /** Ends the watch. Resolves when no call is running. May be called twice. */
  stop(): Promise<void>
}

export interface FolderStoreOptions {
  readonly folder: string
  /** The team of manifests without a namespace. */
  readonly team: string
  /** Good versions are saved here between runs, outside the folder; null = nowhere. */
  readonly statePath: string | null
  /** The egress policy. Without it no channel is refused for its address. */
  readonly isTargetBlocked?: IsTargetBlocked
  /** Takes what people change in the files, once it is applied. */
  readonly auditLog: Pick<AuditLog, 'ask' | 'settle'>
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * Creates the folder and its store id when they are missing; reads no manifest yet.
 * @throws StartupError when the folder cannot be used
 */
export async function openFolderStore(options: FolderStoreOptions): Promise<FolderStore> {
  const { team, clock, logger, isTargetBlocked = () => false } = options
  const folder = await openFolder(options.folder)
  const storeId = await openStoreId(folder)
  const files = new FolderFiles({ ...options, folder, storeId })
  const audit = new FolderAudit(options.auditLog, logger)
  const applier = new FolderApplier(files, { logger, audit, clock, isTargetBlocked })
  const mutex = createMutex()
  const parts = { folder, team, files }
  let watcher: FolderWatcher | null = null

  const sync = async () => {
    const dueInMs = await files.scan(false)
    await applier.apply({ isOwn: false })
    return { dueInMs, refusals: applier.refusals }
  }
  const folderAccess = accessTo({ parts, applier, mutex, sync, logger })
  return {
    storeId,
    start: (applyChange) =>
      mutex(async () => {
        await files.load()
        applier.start(applyChange)
        await scanUntilSettled(files, clock)
        await applier.apply({ isOwn: false })
        watcher = new FolderWatcher({ folder, sync: () => mutex(sync), clock, logger })
      }),
    snapshot: () => applier.resources.snapshot,
    problems: () => applier.problems(),
    sync: async () => void (await mutex(sync)),
    kind: (kind) => createFolderKind(kind, folderAccess),
    queuesNamed: (team, name) =>
      (applier.resources.queues.get(queueKey({ team, name })) ?? []).map((placed) => objectOf(placed)),
    stop: () => {
      watcher?.stop()
      // A start that was running has made its watcher by the time this runs.
      return mutex(() => Promise.resolve(watcher?.stop()))
    },
  }
}

/** A file that is just being written is read once it no longer changes. */
async function scanUntilSettled(files: FolderFiles, clock: Clock): Promise<void> {
  for (let dueInMs = await files.scan(true); dueInMs !== null; dueInMs = await files.scan(true)) {
    await new Promise<void>((resolve) => void clock.after(dueInMs ?? 0, resolve))
  }
}

/** Runs calls one after another, each on what is in the files by then. */
function accessTo(of: {
  readonly parts: FolderAccess['parts']
  readonly applier: FolderApplier
  readonly mutex: Mutex
  readonly sync: () => Promise<unknown>
  readonly logger: Logger
}): FolderAccess {
  const { parts, applier, mutex, sync, logger } = of
  const { files } = parts
  const refuseFault = (fault: FolderFault | null): void => {
    if (fault !== null) throw new EditRefusedError(`The manifest folder ${fault.reason}`)
  }
  return {
    parts,
    read: (read) =>
      mutex(async () => {
        await sync()
        return read()
      }),
    edit: (write) =>
      mutex(async () => {
        await sync()
        refuseFault(files.fault())
        await applyEdit(await write(), applier, logger)
      }),
    remove: (write, isApplied) =>
      mutex(async () => {
        await (isApplied ? sync() : files.scan(false))
        // An overfull folder takes removals, because they fix it.
        const fault = files.fault()
        if (fault?.kind === 'unusable') refuseFault(fault)
        await write()
        if (isApplied) await applier.apply({ isOwn: true })
      }),
  }
}

/**
 * Applies a written edit. When that fails, restores the file, as an edit that was reported as failed must not take
 * effect later.
 */
async function applyEdit(written: WrittenEdit, applier: FolderApplier, logger: Logger): Promise<void> {
  try {
    await applier.apply({ isOwn: true })
    const refusal = written.key === null ? undefined : applier.refusals.get(written.key)
    if (refusal !== undefined) throw refusal
  } catch (error) {
    await written.undo().catch((fault: unknown) => {
      logger.error('A failed edit could not be reverted in its manifest and will be retried', {
        error: fault,
      })
    })
    throw error
  }
}

async function openFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    const folder = await realpath(path)
    await access(folder, constants.R_OK | constants.X_OK)
    await removeDrafts(folder).catch(() => undefined)
    return folder
  } catch (error) {
    const text = `The manifest folder ${path} cannot be used (${reasonOf(error)}): make it a readable folder, or set PUNCTUAL_RESOURCES to another one.`
    throw new StartupError(text, { cause: error })
  }
}
