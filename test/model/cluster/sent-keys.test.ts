import { afterAll, describe, expect } from 'vitest'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { QUEUE_KEY_WORDS, SHARD_KEY_WORDS } from '../../../src/redis/base/layout/keys.ts'
import { STEPS, type StepName } from '../../../src/redis/steps.ts'
import { openConnection, openWorld } from '../../support/engine/model-world.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'
import { CRON_SHARDS } from '../crons/cron-scenes.ts'
import { SCENES } from './tear-scenes.ts'

/** `punctual:{tag}:trash:7:b` is trash b. */
function wordOf(key: string): string {
  const [word, , part] = key.replace(/^punctual:(\{[^}]*\}:)?/, '').split(':')
  return part === undefined ? (word ?? '') : `${word} ${part}`
}

/** Keys that the sender gives, by the word they must have. */
const GIVEN_KEYS: Readonly<Record<string, string>> = {
  bucket: 'm',
  bulkWaiting: 'bu',
  bulks: 'bk',
  channelStates: 'nc',
  deliveryLog: 'nl',
  callList: 'cf or co',
  cronRecords: 'kr',
  hash: 'teams or tokens or secrets or stat',
  hashTeams: 'teams',
  revoked: 'revoked',
  tokens: 'tokens',
  failures: 'bf',
  heldJobs: 'in',
  ids: 'names or kn',
  index: 'qn or kn',
  installation: 'meta',
  jobIndex: 'ix',
  intakeMark: 'im',
  part: 'bp',
  pushedBucket: 'pushed',
  rate: 'rl',
  sessions: 'session',
  lock: 'bt or mr',
  loginCode: 'code',
  settledTallies: 's',
  teamCrons: 'kn',
  alertRecords: 'ad',
  alertOrder: 'ao',
  alertTotals: 'af',
  alertCounts: 'an',
  issues: 'is',
  auditAsked: 'aq or daq or saq',
  auditCounts: 'auc or dauc or sauc',
  auditLog: 'au or dau or sau',
  deedCounts: 'dauc',
  deedLog: 'dau',
  teamQueues: 'qn',
}

function describedWords(name: StepName): readonly string[] {
  const shape = STEPS.find((step) => step.name === name)?.shape ?? {}
  const words: Readonly<Record<string, string>> = { ...GIVEN_KEYS, ...SHARD_KEY_WORDS, ...QUEUE_KEY_WORDS }
  return [...(shape.keys ?? []), ...(shape.queueKeys ?? [])].map((key) => wordOf(words[key] ?? ''))
}

describe('the keys a step is sent with are those that its description names', () => {
  let redis: TestRedis
  let connection: RedisConnection

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())

  test('for every step', () => {
    expect(new Set(SCENES.map(([name]) => name))).toEqual(new Set(STEPS.map(({ name }) => name)))
  })

  test.each(SCENES)('%s: %s', async (name, _, scene) => {
    const world = await openWorld(redis, { connection, shards: CRON_SHARDS[name] ?? 1 })
    const act = await scene({ world, client: redis.client, intake: world.newIntake(), accepted: [] })
    await act()
    const words = describedWords(name)
    const sent = (world.sent.get(name)?.keys ?? []).slice(0, words.length).map(wordOf)
    expect(sent).toHaveLength(words.length)
    words.forEach((known, i) => expect(known.split(' or ')).toContain(sent[i]))
  })
})
