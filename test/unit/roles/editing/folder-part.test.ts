import { NO_OWN_SECRETS } from '../../../../src/ports/access/own-secrets.ts'
import { expect, it } from 'vitest'
import { StorageFullError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { EMPTY_SNAPSHOT, secretsKey } from '../../../../src/folder-store/folder-snapshot.ts'
import type { WindowSettings } from '../../../../src/domain/windows/maintenance-window.ts'
import type { SettingsCompiler } from '../../../../src/ports/settings.ts'
import { applyFolderChange } from '../../../../src/roles/editing/folder-part.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { NO_QUOTAS } from '../../../../src/domain/quotas.ts'
import { anApiToken } from '../../../support/principals.ts'

/** Notes what it is told, in order. */
const WINDOW: WindowSettings = {
  action: 'mute',
  resource: null,
  reason: null,
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
    putOwnSecrets: ({ team, name }) => note('putOwnSecrets')(team, name),
    withdrawHeaderValues: ({ team, name }) => note('withdrawHeaderValues')(team, name),
    removeTeam: note('removeTeam'),
    putToken: ({ team, name }) => note('putToken')(team, name),
    removeToken: note('removeToken'),
    putWindow: ({ team, name }) => note('putWindow')(team, name),
    removeWindow: note('removeWindow'),
    putOwnAddresses: note('putOwnAddresses'),
    sealAnew: () => Promise.resolve({ status: 'sealed', unopened: [] }),
    applied: () => Promise.resolve({ teams: [], tokens: [], windows: [] }),
    namespaces: () => Promise.resolve(new Map()),
    claimNamespace: note('claimNamespace'),
    putNamespace: note('putNamespace'),
    removeNamespace: note('removeNamespace'),
    eraseTeam: note('eraseTeam'),
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
          policy: {
            egressAllow: [],
            signingSecrets: [],
            signingSecretIds: [],
            appliedResources: undefined,
            headerSecrets: [],
            quotas: NO_QUOTAS,
            channels: [],
            members: [],
            maskedHeaders: [],
          },
        },
      ],
      removedTeams: ['u'],
      secrets: [{ owner: { team: 't', kind: 'queue', name: 'mail' }, secrets: NO_OWN_SECRETS }],
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
    'putOwnSecrets t mail',
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

it('a token whose hash is another team’s is refused, and the rest is applied', async () => {
  const { compiler, told } = notingCompiler()
  const refusals = await applyFolderChange(
    {
      teams: [],
      removedTeams: [],
      secrets: [],
      removedTokens: [],
      windows: [],
      removedWindows: [],
      tokens: [anApiToken('moved', { team: 't' }), anApiToken('new', { team: 't' })],
      removedCrons: [],
      queues: [{ team: 't', name: 'mail', settings: DEFAULT_QUEUE_SETTINGS }],
      crons: [],
      removedQueues: [],
      snapshot: EMPTY_SNAPSHOT,
    },
    {
      ...compiler,
      putToken: ({ name }) => Promise.resolve({ status: name === 'moved' ? 'taken' : 'applied' }),
    },
  )
  expect([...refusals].map(([key, { message }]) => [key, message])).toEqual([
    ['["ApiToken","t","moved"]', expect.stringContaining('belongs to a token of another team')],
  ])
  expect(told).toEqual(['applyQueue t mail'])
})

it('secrets that are too large, or that Redis has no room for, are refused, and the rest is applied', async () => {
  const { compiler, told } = notingCompiler()
  const owner = (name: string) => ({ team: 't', kind: 'cron', name }) as const
  const ends = [
    () => Promise.resolve({ status: 'too_large', of: 'team' } as const),
    () => Promise.reject(new StorageFullError()),
    () => Promise.resolve({ status: 'applied' } as const),
  ]
  const refusals = await applyFolderChange(
    {
      teams: [],
      removedTeams: [],
      tokens: [],
      removedTokens: [],
      windows: [],
      removedWindows: [],
      removedCrons: [],
      queues: [],
      removedQueues: [],
      snapshot: EMPTY_SNAPSHOT,
      secrets: ['large', 'late', 'fine'].map((name) => ({ owner: owner(name), secrets: NO_OWN_SECRETS })),
      crons: [{ team: 't', name: 'daily', settings: cronSettings() }],
    },
    { ...compiler, putOwnSecrets: () => (ends.shift() as (typeof ends)[number])() },
  )
  expect([...refusals].map(([key, { message }]) => [key, message])).toEqual([
    [secretsKey({ owner: owner('large') }), expect.stringContaining('more than 1048576 bytes')],
    [secretsKey({ owner: owner('late') }), 'The job store is full.'],
  ])
  expect(ends).toEqual([])
  expect(told).toEqual(['applyCron t daily'])
})

const ONE_OF_EACH = {
  teams: [
    {
      team: 't',
      policy: {
        egressAllow: [],
        signingSecrets: [],
        signingSecretIds: [],
        appliedResources: undefined,
        headerSecrets: [],
        quotas: NO_QUOTAS,
        channels: [],
        members: [],
        maskedHeaders: [],
      },
    },
  ],
  removedTeams: ['u'],
  secrets: [{ owner: { team: 't', kind: 'queue', name: 'mail' }, secrets: NO_OWN_SECRETS }],
  removedTokens: [{ team: 't', name: 'old' }],
  tokens: [anApiToken('new', { team: 't' })],
  windows: [{ team: 't', name: 'night', settings: WINDOW }],
  removedWindows: [{ team: 't', name: 'move' }],
  removedCrons: [{ team: 't', name: 'hourly' }],
  queues: [{ team: 't', name: 'mail', settings: DEFAULT_QUEUE_SETTINGS }],
  crons: [{ team: 't', name: 'daily', settings: cronSettings() }],
  removedQueues: [{ team: 't', name: 'sms' }],
  snapshot: EMPTY_SNAPSHOT,
} as const

const METHODS = [
  'putTeam',
  'removeTeam',
  'putOwnSecrets',
  'removeToken',
  'putToken',
  'removeWindow',
  'putWindow',
  'removeCron',
  'applyQueue',
  'applyCron',
  'removeQueue',
] as ReadonlyArray<keyof SettingsCompiler>

it.each(METHODS)('what throws in %s is refused alone', async (method) => {
  const { compiler, told } = notingCompiler()
  const refusals = await applyFolderChange(ONE_OF_EACH, {
    ...compiler,
    [method]: () => Promise.reject(new RangeError('planted')),
  })
  expect([...refusals.values()].map(({ message }) => message)).toEqual(['planted'])
  expect(told).toHaveLength(METHODS.length - 1)
})

it('without Redis none is applied, and nothing counts as refused', async () => {
  const { compiler } = notingCompiler()
  const away = new StoreUnavailableError('away')
  const applied = applyFolderChange(ONE_OF_EACH, { ...compiler, putWindow: () => Promise.reject(away) })
  await expect(applied).rejects.toBe(away)
})
