import { access, constants, mkdir, realpath } from 'node:fs/promises'
import type { ApiToken } from '../domain/access/api-token.ts'
import type { SigningSecret } from '../domain/access/signing-secret.ts'
import type { CronSettings } from '../domain/crons/cron.ts'
import { reasonOf, StartupError } from '../domain/errors.ts'
import type { QueueSettings } from '../domain/jobs/queue-settings.ts'
import { createMutex } from '../domain/mutex.ts'
import type { WindowSettings } from '../domain/windows/maintenance-window.ts'
import type { AuditLog } from '../ports/audit-log.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import type { EditParts, EditResult, RefusedEdit, Removal, WrittenEdit } from './edits/manifest-edits.ts'
import {
  type CronEdit,
  type QueueEdit,
  writeCronEdit,
  writeCronRemoval,
  writeQueueEdit,
  writeQueueRemoval,
  type WindowEdit,
  writeWindowEdit,
  writeWindowRemoval,
} from './edits/settings-edits.ts'
import { signingSecretsOf, writeNewSigningSecret, writeSigningSecretRemoval } from './edits/signing-edits.ts'
import { writeNewToken, writeTokenRemoval } from './edits/token-edits.ts'
import { removeDrafts } from './files/atomic-file.ts'
import { FolderFiles } from './files/folder-files.ts'
import type { FolderFault } from './files/folder-scanner.ts'
import { openStoreId } from './files/store-id.ts'
import type { IsTargetBlocked } from './applied-resources.ts'
import { type ApplyChange, FolderApplier } from './folder-applier.ts'
import { FolderAudit } from './folder-audit.ts'
import type { FolderProblem } from './folder-problem.ts'
import type { FolderSnapshot } from './folder-snapshot.ts'
import { FolderWatcher } from './folder-watcher.ts'

/** Resources kept as a folder of manifests. Calls run one after another. */
export interface FolderStore {
  /** Identifies the folder: Redis knows which one it was filled from. */
  readonly storeId: string
  /**
   * Applies the folder and watches it. `applyChange` gets one change at a time, the first with everything; a change that
   * it rejects, and what it refuses, is part of the next one. Resolves once the first change is applied and rejects when
   * that is rejected. A file that is missing since the previous run delays it by two seconds.
   */
  start(applyChange: ApplyChange): Promise<void>
  /** The valid resources of the folder. */
  snapshot(): FolderSnapshot
  /** What is wrong now. What is applied stays applied. */
  problems(): readonly FolderProblem[]
  /** Scans the folder now and applies what is due. Rejects as `applyChange` does. */
  sync(): Promise<void>
  /**
   * Changes a queue's manifest, or writes its first one, and applies it. Rejects as `applyChange` does, or with what it
   * refuses; then the manifest is restored, and the next sync undoes what was applied of the edit.
   */
  editQueue(edit: QueueEdit): Promise<EditResult<QueueSettings>>
  /** Removes a queue's manifests and applies that. Rejects as `applyChange` does; then a later sync removes the queue. */
  removeQueue(queue: { readonly team: string; readonly name: string }): Promise<Removal>
  /** As `editQueue`, for a cron. */
  editCron(edit: CronEdit): Promise<EditResult<CronSettings>>
  /** As `removeQueue`, for a cron. */
  removeCron(cron: { readonly team: string; readonly name: string }): Promise<Removal>
  /** As `editQueue`, for a maintenance window; refuses a new one that has a manifest already. */
  editWindow(edit: WindowEdit): Promise<EditResult<WindowSettings>>
  /** As `removeQueue`, for a maintenance window. */
  removeWindow(window: { readonly team: string; readonly name: string }): Promise<Removal>
  /** Writes a manifest of a new token and applies it, as `editQueue` does; refuses a name that has a manifest. */
  createToken(token: ApiToken): Promise<EditResult<ApiToken>>
  /** As `removeQueue`, for a token. */
  removeToken(token: Pick<ApiToken, 'team' | 'name'>): Promise<Removal>
  /** Newest first, as the applied TeamSettings of the team names them. */
  signingSecretsOf(team: string): readonly SigningSecret[]
  /** Writes a Secret, readable by this user alone, makes it the newest of the team and applies that, as `editQueue` does. */
  createSigningSecret(given: {
    readonly team: string
    readonly name: string
    readonly text: string
  }): Promise<EditResult<SigningSecret>>
  /** As `removeQueue`, for a signing secret; a Secret that `createSigningSecret` did not write stays. */
  removeSigningSecret(secret: { readonly team: string; readonly id: string }): Promise<Removal>
  /** Ends the watch; resolves when no call is running. Idempotent. */
  stop(): Promise<void>
}

export interface FolderStoreOptions {
  readonly folder: string
  /** The team of manifests without a namespace. */
  readonly team: string
  /** Where good versions are saved between runs, outside the folder; null = nowhere. */
  readonly statePath: string | null
  /** The egress policy; without it, no channel is refused for its address. */
  readonly isTargetBlocked?: IsTargetBlocked
  /** Gets what people change in the files, once it is applied. */
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
  const edit = <T>(write: () => Promise<WrittenEdit<T> | RefusedEdit>): Promise<EditResult<T>> =>
    mutex(async () => {
      await sync()
      const fault = files.fault()
      return fault === null ? applyEdit(await write(), applier, logger) : refusedBy(fault)
    })
  const remove = (write: () => Promise<Removal>): Promise<Removal> =>
    mutex(async () => {
      await sync()
      // An overfull folder takes removals, which fix it. Not all of it was read, so it may hold what is not found.
      const fault = files.fault()
      if (fault?.kind === 'unusable') return refusedBy(fault)
      const result = await write()
      await applier.apply({ isOwn: true })
      return fault !== null && result.status === 'not_found' ? refusedBy(fault) : result
    })
  return {
    storeId,
    start: (applyChange) =>
      mutex(async () => {
        await files.load()
        applier.start(applyChange)
        for (let dueInMs = await files.scan(true); dueInMs !== null; dueInMs = await files.scan(true)) {
          await new Promise<void>((resolve) => void clock.after(dueInMs ?? 0, resolve))
        }
        await applier.apply({ isOwn: false })
        watcher = new FolderWatcher({ folder, sync: () => mutex(sync), clock, logger })
      }),
    snapshot: () => applier.resources.snapshot,
    ...{ problems: () => applier.problems(), sync: async () => void (await mutex(sync)) },
    editQueue: (queue) => edit(() => writeQueueEdit(parts, applier.resources, queue)),
    removeQueue: (queue) => remove(() => writeQueueRemoval(parts, applier.resources, queue)),
    editCron: (cron) => edit(() => writeCronEdit(parts, applier.resources, cron)),
    removeCron: (cron) => remove(() => writeCronRemoval(parts, cron)),
    editWindow: (window) => edit(() => writeWindowEdit(parts, applier.resources, window)),
    removeWindow: (window) => remove(() => writeWindowRemoval(parts, window)),
    ...accessEdits(parts, { edit, remove }),
    stop: () => {
      watcher?.stop()
      // A start that was running has made its watcher by then.
      return mutex(() => Promise.resolve(watcher?.stop()))
    },
  }
}

/** Edits of what gives access, or proves who calls. */
function accessEdits(
  parts: EditParts,
  {
    edit,
    remove,
  }: {
    readonly edit: <T>(write: () => Promise<WrittenEdit<T> | RefusedEdit>) => Promise<EditResult<T>>
    readonly remove: (write: () => Promise<Removal>) => Promise<Removal>
  },
): Pick<
  FolderStore,
  'createToken' | 'removeToken' | 'signingSecretsOf' | 'createSigningSecret' | 'removeSigningSecret'
> {
  return {
    createToken: (token) => edit(() => writeNewToken(parts, token)),
    removeToken: (token) => remove(() => writeTokenRemoval(parts, token)),
    signingSecretsOf: (team) => signingSecretsOf(parts, team),
    createSigningSecret: (given) => edit(() => writeNewSigningSecret(parts, given)),
    removeSigningSecret: (secret) => remove(() => writeSigningSecretRemoval(parts, secret)),
  }
}

/** Applies a written edit, or takes it back: an edit that was reported as failed must not take effect later. */
async function applyEdit<T>(
  written: WrittenEdit<T> | RefusedEdit,
  applier: FolderApplier,
  logger: Logger,
): Promise<EditResult<T>> {
  if (written.status === 'refused') return written
  try {
    await applier.apply({ isOwn: true })
    const refusal = applier.refusals.get(written.key)
    if (refusal !== undefined) throw refusal
  } catch (error) {
    await written.undo().catch((fault: unknown) => {
      logger.error('A failed edit could not be reverted in its manifest and will be retried', {
        error: fault,
      })
    })
    throw error
  }
  return { status: 'edited', settings: written.settings }
}

function refusedBy({ reason }: FolderFault): RefusedEdit {
  return { status: 'refused', reason: `The manifest folder ${reason}` }
}

async function openFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    const folder = await realpath(path)
    await access(folder, constants.R_OK | constants.X_OK)
    await removeDrafts(folder).catch(() => undefined)
    return folder
  } catch (error) {
    const text = `The manifest folder ${path} cannot be used (${reasonOf(error)}): make it a readable folder, or set PUNCTUAL_MANIFESTS to another one.`
    throw new StartupError(text, { cause: error })
  }
}
