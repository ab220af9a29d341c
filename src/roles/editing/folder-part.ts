import { EditRefusedError, reasonOf, StoreUnavailableError } from '../../domain/errors.ts'
import { tooManyBytesText } from '../../domain/secrets/secret-bytes.ts'
import { cronKey, queueKey, secretsKey, tokenKey, windowKey } from '../../folder-store/folder-snapshot.ts'
import type { FolderChange, Refusals } from '../../folder-store/folder-snapshot.ts'
import type { FolderStore } from '../../folder-store/folder-store.ts'
import type { HttpQueue } from '../../editors/queue-editor.ts'
import type { SettingsCompiler, WindowCompiler } from '../../ports/settings.ts'
import type { ResourceStores } from './editors-part.ts'

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

/** The folder as the editors see it. */
export function storesInFolder(folder: FolderStore, compiler: WindowCompiler): ResourceStores {
  return {
    queues: folder.kind('HttpQueue'),
    crons: folder.kind('HttpCron'),
    windows: folder.kind('MaintenanceWindow'),
    tokens: folder.kind('ApiToken'),
    settings: folder.kind('TeamSettings'),
    secrets: folder.kind('Secret'),
    resourcesOf: (team, queue) => folder.queuesNamed(team, queue) as readonly HttpQueue[],
    isWatched: () => true,
    endLeftOver: (team, name) => compiler.removeWindow(team, name),
  }
}
