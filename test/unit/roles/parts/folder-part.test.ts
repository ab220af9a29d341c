import { expect, it } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { EMPTY_SNAPSHOT } from '../../../../src/folder-store/folder-snapshot.ts'
import type { WindowSettings } from '../../../../src/domain/windows/maintenance-window.ts'
import type { SettingsCompiler } from '../../../../src/ports/settings.ts'
import { applyFolderChange } from '../../../../src/roles/parts/folder-part.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { NO_QUOTAS } from '../../../../src/domain/quotas.ts'
import { anApiToken } from '../../../support/principals.ts'

/** Notes what it is told, in order. */
const WINDOW: WindowSettings = {
  ...{ action: 'mute', resource: null, reason: null },
  times: { kind: 'once', startMs: 1, endMs: 2 },
}

function notingCompiler(): { readonly compiler: SettingsCompiler; readonly told: string[] } {
  const told: string[] = []
  const note =
    (method: string) =>
    (team: string, name?: unknown): Promise<never> => {
      told.push([method, team, ...(typeof name === 'string' ? [name] : [])].join(' '))
      return Promise.resolve({ status: 'applied' } as never)
    }
  const compiler: SettingsCompiler = {
    applyQueue: note('applyQueue'),
    removeQueue: note('removeQueue'),
    applyCron: note('applyCron'),
    removeCron: note('removeCron'),
    putTeam: note('putTeam'),
    removeTeam: note('removeTeam'),
    putToken: ({ team, name }) => note('putToken')(team, name),
    removeToken: note('removeToken'),
    putWindow: ({ team, name }) => note('putWindow')(team, name),
    removeWindow: note('removeWindow'),
    applied: () => Promise.resolve({ teams: [], tokens: [], windows: [] }),
  }
  return { compiler, told }
}

it('a change of the folder takes effect in its order', async () => {
  const { compiler, told } = notingCompiler()
  await applyFolderChange(
    {
      teams: [
        {
          team: 't',
          policy: { egressAllow: [], signingSecrets: [], quotas: NO_QUOTAS, channels: [], members: [] },
        },
      ],
      removedTeams: ['u'],
      removedTokens: [{ team: 't', name: 'old' }],
      tokens: [anApiToken('new', { team: 't' })],
      windows: [{ team: 't', name: 'night', settings: WINDOW }],
      removedWindows: [{ team: 't', name: 'move' }],
      removedCrons: [{ team: 't', name: 'hourly' }],
      queues: [{ team: 't', name: 'mail', settings: DEFAULT_QUEUE_SETTINGS }],
      crons: [{ team: 't', name: 'daily', settings: cronSettings() }],
      removedQueues: [{ team: 't', name: 'sms' }],
      snapshot: EMPTY_SNAPSHOT,
    },
    compiler,
  )
  expect(told).toEqual([
    'putTeam t',
    'removeTeam u',
    'removeToken t old',
    'putToken t new',
    'removeWindow t move',
    'putWindow t night',
    'removeCron t hourly',
    'applyQueue t mail',
    'applyCron t daily',
    'removeQueue t sms',
  ])
})
