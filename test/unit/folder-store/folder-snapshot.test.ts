import { describe, expect, it } from 'vitest'
import { DEFAULT_CRON_SETTINGS } from '../../../src/domain/crons/cron.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import {
  changeBetween,
  EMPTY_SNAPSHOT,
  keysOf,
  withInterrupted,
} from '../../../src/folder-store/folder-snapshot.ts'
import type { FolderSnapshot } from '../../../src/folder-store/folder-snapshot.ts'
import { NO_QUOTAS } from '../../../src/domain/quotas.ts'
import { anApiToken } from '../../support/principals.ts'

const queue = (name: string, timeoutSeconds = 30) => ({
  team: 'default',
  name,
  settings: { ...DEFAULT_QUEUE_SETTINGS, timeoutSeconds },
})
const cron = (name: string, cronExpression = '0 8 * * *') => ({
  team: 'default',
  name,
  settings: { ...DEFAULT_CRON_SETTINGS, displayName: name, url: 'https://a.test', cronExpression },
})
const team = (name: string, ...egressAllow: string[]) => ({
  team: name,
  policy: {
    egressAllow,
    signingSecrets: [],
    signingSecretIds: [],
    appliedResources: undefined,
    headerSecrets: [],
    quotas: NO_QUOTAS,
    channels: [],
    members: [],
    maskedHeaders: [],
  },
})
const NONE: ReadonlySet<string> = new Set()

const token = (name: string, digit: string) => anApiToken(name, { sha256Hex: digit.repeat(64) })

const window = (name: string, endMs = 2) => ({
  team: 'default',
  name,
  settings: {
    action: 'mute' as const,
    resource: null,
    reason: null,
    times: { kind: 'once' as const, startMs: 1, endMs },
  },
})

const BEFORE: FolderSnapshot = {
  queues: [queue('a'), queue('b')],
  // Of the same names as the queues: a change of one is not a change of the other.
  crons: [cron('a'), cron('b')],
  teams: [team('t'), team('u')],
  tokens: [token('a', '1'), token('b', '2')],
  windows: [window('a'), window('b')],
  secrets: [],
}
const AFTER: FolderSnapshot = {
  queues: [queue('b', 1), queue('c')],
  crons: [cron('b', '5 8 * * *'), cron('c')],
  teams: [team('t', 'x'), team('v')],
  tokens: [token('b', '3'), token('c', '4')],
  windows: [window('b', 3), window('c')],
  secrets: [],
}

describe('a change', () => {
  it('names what is new or different, and what is removed', () => {
    const change = changeBetween(BEFORE, AFTER, NONE)
    expect(change).toEqual({
      teams: [team('t', 'x'), team('v')],
      secrets: [],
      removedTeams: ['u'],
      removedTokens: [{ team: 'default', name: 'a' }],
      tokens: [token('b', '3'), token('c', '4')],
      windows: [window('b', 3), window('c')],
      removedWindows: [{ team: 'default', name: 'a' }],
      removedCrons: [{ team: 'default', name: 'a' }],
      queues: [queue('b', 1), queue('c')],
      crons: [cron('b', '5 8 * * *'), cron('c')],
      removedQueues: [{ team: 'default', name: 'a' }],
      snapshot: AFTER,
    })
    expect(keysOf(change)).toHaveLength(15)
  })

  it('is empty between equal snapshots', () => {
    expect(keysOf(changeBetween(BEFORE, structuredClone(BEFORE), NONE))).toEqual([])
  })

  it('names everything when nothing is known to be applied', () => {
    expect(changeBetween(BEFORE, BEFORE, 'all')).toMatchObject({ queues: BEFORE.queues, teams: BEFORE.teams })
  })

  it('repeats what may not have been applied', () => {
    const broken = changeBetween(BEFORE, AFTER, NONE)
    const uncertain = new Set(keysOf(broken))
    const next = changeBetween(withInterrupted(BEFORE, broken), AFTER, uncertain)
    expect(next).toEqual(broken)
  })

  it('undoes what an interrupted one may have applied', () => {
    const broken = changeBetween(BEFORE, AFTER, NONE)
    const next = changeBetween(withInterrupted(BEFORE, broken), BEFORE, new Set(keysOf(broken)))
    expect(next).toMatchObject({
      queues: BEFORE.queues,
      removedQueues: [{ team: 'default', name: 'c' }],
      crons: BEFORE.crons,
      removedCrons: [{ team: 'default', name: 'c' }],
      removedTokens: [{ team: 'default', name: 'c' }],
      tokens: BEFORE.tokens,
      windows: BEFORE.windows,
      removedWindows: [{ team: 'default', name: 'c' }],
      teams: BEFORE.teams,
      removedTeams: ['v'],
    })
  })

  it('of nothing to nothing is empty', () => {
    expect(keysOf(changeBetween(EMPTY_SNAPSHOT, EMPTY_SNAPSHOT, 'all'))).toEqual([])
  })
})
