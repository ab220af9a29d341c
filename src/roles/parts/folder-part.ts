import { EditRefusedError, reasonOf, StoreUnavailableError } from '../../domain/errors.ts'
import { tooManyBytesText } from '../../domain/secrets/secret-bytes.ts'
import { cronKey, queueKey, secretsKey, tokenKey, windowKey } from '../../folder-store/folder-snapshot.ts'
import type { FolderChange, Refusals } from '../../folder-store/folder-snapshot.ts'
import type { FolderStore } from '../../folder-store/folder-store.ts'
import type { RefusedEdit } from '../../folder-store/edits/manifest-edits.ts'
import type { CronEditor, CronStore } from '../../ports/crons.ts'
import { createCronEditor, newNameSuffix, type CronKeeper } from '../editors/cron-editor.ts'
import { createQueueEditor, type QueueKeeper } from '../editors/queue-editor.ts'
import type { QueueEditor, QueueStore } from '../../ports/queues.ts'
import type { SettingsCompiler, WindowCompiler } from '../../ports/settings.ts'
import type { SigningSecretStore } from '../../ports/access/signing-secrets.ts'
import type { TokenKeeper } from '../../ports/access/tokens.ts'
import type { WindowEditor, WindowStore } from '../../ports/windows.ts'
import { createWindowEditor, type WindowKeeper } from '../editors/window-editor.ts'

const TAKEN_TEXT =
  'Its hash belongs to a token of another team, or did until it was revoked: create another token.'

/**
 * Applies a change of the folder: first egress rules and tokens, then maintenance windows, queues, then the crons that run through them.
 * Removed crons stop before their queues, which are removed last. Nothing that is refused, or throws, holds up the others;
 * only without Redis none can go on. Throws StoreUnavailableError.
 * @returns what Redis has no room for, secrets that are too large, tokens that are another team's, and whatever threw
 */
export async function applyFolderChange(change: FolderChange, compiler: SettingsCompiler): Promise<Refusals> {
  const refusals = new Map<string, Error>()
  const each = async (key: string, apply: () => Promise<unknown>): Promise<void> => {
    try {
      const refusal = await apply()
      if (refusal instanceof Error) refusals.set(key, refusal)
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error
      refusals.set(key, error instanceof Error ? error : new Error(reasonOf(error)))
    }
  }
  for (const { team, policy } of change.teams) await each(team, () => compiler.putTeam(team, policy))
  for (const team of change.removedTeams) await each(team, () => compiler.removeTeam(team))
  for (const own of change.secrets) {
    await each(secretsKey(own), async () => {
      const put = await compiler.putOwnSecrets(own.owner, own.secrets)
      return put.status === 'too_large' ? new EditRefusedError(tooManyBytesText(put.of)) : null
    })
  }
  for (const token of change.removedTokens) {
    await each(tokenKey(token), () => compiler.removeToken(token.team, token.name))
  }
  for (const token of change.tokens) {
    await each(tokenKey(token), async () => {
      const { status } = await compiler.putToken(token)
      return status === 'taken' ? new EditRefusedError(TAKEN_TEXT) : null
    })
  }
  for (const window of change.removedWindows) {
    await each(windowKey(window), () => compiler.removeWindow(window.team, window.name))
  }
  for (const { settings, ...window } of change.windows) {
    await each(windowKey(window), () => compiler.putWindow({ ...window, ...settings }))
  }
  for (const cron of change.removedCrons) {
    await each(cronKey(cron), () => compiler.removeCron(cron.team, cron.name))
  }
  for (const queue of change.queues) {
    await each(queueKey(queue), () => compiler.applyQueue(queue.team, queue.name, queue.settings))
  }
  for (const cron of change.crons) {
    await each(cronKey(cron), () => compiler.applyCron(cron.team, cron.name, cron.settings))
  }
  for (const queue of change.removedQueues) {
    await each(queueKey(queue), () => compiler.removeQueue(queue.team, queue.name))
  }
  return refusals
}

/** Edits of queues go into their manifests and are applied from there, so that folder and engine always agree. */
function queuesInFolder(folder: FolderStore, queues: QueueStore): QueueKeeper {
  return {
    sync: () => folder.sync(),
    write: async (team, { name, settings }, change) =>
      accepted(await folder.editQueue({ team, name, change, current: settings })),
    remove: async (team, name) => {
      const { status } = accepted(await folder.removeQueue({ team, name }))
      // A queue that a push made and nobody has edited has no manifest.
      return status === 'not_found' ? queues.remove(team, name) : 'removed'
    },
  }
}

/** As `queuesInFolder`, for crons. */
function cronsInFolder(folder: FolderStore, crons: CronStore): CronKeeper {
  return {
    sync: () => folder.sync(),
    write: async (team, name, { change, current }) =>
      accepted(await folder.editCron({ team, name, change, current })),
    remove: async (team, name) => {
      const { status } = accepted(await folder.removeCron({ team, name }))
      return status === 'not_found' ? crons.remove(team, name) : 'removed'
    },
  }
}

/** As `queuesInFolder`, for maintenance windows. */
function windowsInFolder(folder: FolderStore, compiler: WindowCompiler): WindowKeeper {
  return {
    sync: () => folder.sync(),
    create: async ({ team, name, ...settings }) =>
      accepted(await folder.editWindow({ team, name, settings, former: null })),
    edit: async ({ team, name, ...former }, change) => {
      const settings = await change(former)
      if (settings === 'refused') return settings
      const edited = accepted(await folder.editWindow({ team, name, settings, former }))
      return { team, name, ...edited.settings }
    },
    remove: async (team, name) => {
      const { status } = accepted(await folder.removeWindow({ team, name }))
      // In force without a manifest: left by another folder.
      if (status === 'not_found') await compiler.removeWindow(team, name)
      return 'removed'
    },
  }
}

/** As `queuesInFolder`, for tokens. */
export function tokensInFolder(folder: FolderStore): TokenKeeper {
  return {
    all: (team) => Promise.resolve(folder.snapshot().tokens.filter((token) => token.team === team)),
    create: async (token) => void accepted(await folder.createToken(token)),
    remove: async (team, name) => accepted(await folder.removeToken({ team, name })).status,
  }
}

/** As `queuesInFolder`, for signing secrets. */
export function signingSecretsInFolder(folder: FolderStore): SigningSecretStore {
  return {
    list: (team) => Promise.resolve(folder.signingSecretsOf(team)),
    create: async (team, given) => accepted(await folder.createSigningSecret({ team, ...given })).settings,
    remove: async (team, id) => accepted(await folder.removeSigningSecret({ team, id })).status,
  }
}

/** Throws EditRefusedError when the folder has refused. */
function accepted<Result extends { readonly status: string }>(
  result: Result | RefusedEdit,
): Exclude<Result, RefusedEdit> {
  if (result.status === 'refused') throw new EditRefusedError((result as RefusedEdit).reason)
  return result as Exclude<Result, RefusedEdit>
}

/** The editors of what a folder describes. */
export function folderEditors(
  folder: FolderStore,
  stores: {
    readonly queues: QueueStore
    readonly crons: CronStore
    readonly windows: WindowStore
    readonly compiler: WindowCompiler
  },
  newSuffix: () => string = newNameSuffix,
): { readonly editor: QueueEditor; readonly cronEditor: CronEditor; readonly windowEditor: WindowEditor } {
  const { queues, crons, windows, compiler } = stores
  return {
    editor: createQueueEditor(queues, queuesInFolder(folder, queues)),
    cronEditor: createCronEditor(crons, newSuffix, cronsInFolder(folder, crons)),
    windowEditor: createWindowEditor({ windows, newSuffix, keeper: windowsInFolder(folder, compiler) }),
  }
}
