/**
 * As planted-exceptions.test.ts, of notifications and bulks: whatever pure function throws over one team's message or bulk,
 * another team's messages are sent and its bulks end, once each.
 */
import { afterAll, beforeEach, expect } from 'vitest'
import type { ChannelType } from '../../../src/domain/notifications/channel.ts'
import type { HttpCaller } from '../../../src/ports/http-caller.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { AN_ACTOR } from '../../support/principals.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'
import type { World } from '../../support/engine/model-world.ts'
import { until } from '../../support/until.ts'
import { BAD_TEAM, exceptions, wrapPure } from './planted.ts'

wrapPure()
const { openConnection, openWorld } = await import('../../support/engine/model-world.ts')
const { NotifierStage, channelOf, settingsOf } =
  await import('../../model/ledger/notifications/notifier-stage.ts')
const { BulkStage } = await import('../../model/jobs/bulk/bulk-stage.ts')
const { Notifier } = await import('../../../src/executor/notifier/notifier.ts')
const { BulkWorkers } = await import('../../../src/executor/bulk/bulk-workers.ts')
const { createWebhookSender } = await import('../../../src/senders/webhooks/webhook-sender.ts')
const { createQueueStore } = await import('../../../src/redis/jobs/queues/queue-store.ts')
const { systemClock } = await import('../../../src/telemetry/system-clock.ts')
const { loopsOf } = await import('../../support/loops.ts')
const { quietLogger, quietMetrics } = await import('../../support/quiet.ts')

const GOOD_TEAM = 'goodteam'
const TEAMS = [BAD_TEAM, GOOD_TEAM]
const ROUND_MS_MAX = 20_000
const JOBS = 20
const RUNTIME = { clock: systemClock, logger: quietLogger }

const URLS: Readonly<Record<Exclude<ChannelType, 'email'>, string>> = {
  slack: 'https://hooks.slack.com/services/T00000000/B00000000/x',
  discord: 'https://discord.com/api/webhooks/1/x',
  webhook: 'https://hooks.test/x',
}

let redis: TestRedis
let connection: RedisConnection
let world: World

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(() => exceptions.plant(null))

/** Plays a round without an exception, then one with each function that it met. Answers what went wrong. */
async function playAll(play: (planted: string | null) => Promise<string[]>): Promise<string[]> {
  exceptions.forget()
  const faults = (await play(null)).map((wrong) => `nothing planted: ${wrong}`)
  const functions = exceptions.seen()
  expect(functions.length).toBeGreaterThan(5)
  for (const name of functions) {
    for (const wrong of await play(name)) faults.push(`${name}: ${wrong}`)
  }
  return faults
}

/** Runs until the good team has what it is owed, and the bad team has met what is planted. */
async function watched(
  planted: string | null,
  isDone: (team: string) => Promise<boolean>,
): Promise<string[]> {
  const isOver = async () =>
    (await isDone(GOOD_TEAM)) && (planted === null ? await isDone(BAD_TEAM) : exceptions.thrown > 0)
  return until('the good team is done', isOver, ROUND_MS_MAX).then(
    () => [],
    () => [exceptions.thrown > 0 || planted === null ? 'the good team is not done' : 'it did not throw'],
  )
}

async function playMessages(planted: string | null): Promise<string[]> {
  world = await openWorld(redis, { connection, shards: 1 })
  const types = ['slack', 'discord', 'webhook'] as const
  const settings = settingsOf(types.map((type) => channelOf({ name: type, type, url: URLS[type] })))
  for (const team of TEAMS) {
    const stage = new NotifierStage(world, settings, team)
    await stage.prepare()
    await stage.fail(2)
  }
  const sent: string[] = []
  const caller: HttpCaller = {
    call: ({ team, url }) => {
      sent.push(`${team} ${url}`)
      return Promise.resolve(ANSWERED)
    },
    close: () => Promise.resolve(),
  }
  const send = createWebhookSender(caller)
  const notifier = new Notifier({
    board: new NotifierStage(world).board,
    sender: {
      send: (delivery, signal) => send(delivery.channel.type as keyof typeof URLS, delivery, signal),
      close: () => Promise.resolve(),
    },
    teams: { of: () => settings, notifiedTeams: () => TEAMS },
    loops: loopsOf(RUNTIME),
    ...RUNTIME,
    metrics: quietMetrics,
    newId: () => `id${sent.length}`,
    random: () => 0,
  })
  exceptions.plant(planted)
  exceptions.watch(true)
  notifier.start()
  const of = (team: string) => sent.filter((one) => one.startsWith(`${team} `))
  const wrong = await watched(planted, (team) => Promise.resolve(of(team).length >= types.length))
  await notifier.stopSending(0)
  exceptions.watch(false)
  const good = of(GOOD_TEAM)
  if (new Set(good).size !== good.length) wrong.push(`some messages were sent twice: ${good.join(', ')}`)
  return wrong
}

const ANSWERED = {
  kind: 'answered',
  status: 200,
  headers: [],
  body: new TextEncoder().encode('ok'),
  bodyTruncated: false,
  isBodyCutShort: false,
  protocolNotes: [],
  found: new Set<string>(),
  durationMs: 1,
  timings: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: 1, bodyMs: 0 },
  requestHeaders: [],
} as const

/** What belongs to a team names it. */
const requestOf = (team: string) => ({ url: `https://${team}.test/`, tags: { team } })

async function playBulks(planted: string | null): Promise<string[]> {
  world = await openWorld(redis, { connection, shards: 1 })
  const stage = new BulkStage(world)
  const dead = new Map<string, number[]>()
  for (const team of TEAMS)
    dead.set(team, await stage.deadLetters(JOBS, { team, queue: 'dead', request: requestOf(team) }))
  const bulks: Array<{ readonly team: string; readonly id: number }> = []
  for (const team of TEAMS) {
    const open = await stage.push(JOBS, { team, queue: 'open', request: requestOf(team) })
    for (const [action, ids] of [
      ['cancel', open],
      ['replay', dead.get(team) ?? []],
    ] as const) {
      const target = { kind: 'ids', ids } as const
      const bulk = await stage.store.create(team, { action, target, ratePerSecond: null }, AN_ACTOR)
      if (bulk === 'too_many') expect.fail('no place for a bulk')
      bulks.push({ team, id: bulk.id })
    }
  }
  const read = (team: string) =>
    Promise.all(bulks.filter((one) => one.team === team).map(({ id }) => stage.store.get(team, id)))
  const workers = new BulkWorkers({
    shards: stage.openShards(),
    loops: loopsOf(RUNTIME),
    ...RUNTIME,
    random: () => 0,
  })
  exceptions.plant(planted)
  exceptions.watch(true)
  workers.start()
  // What is read of the good team names no other, and the bad team's is read only while nothing is planted.
  const isDone = async (team: string) => (await read(team)).every((bulk) => bulk?.state === 'done')
  const wrong = await watched(planted, isDone)
  await workers.stop()
  exceptions.watch(false)
  for (const bulk of await read(GOOD_TEAM)) {
    if (bulk?.done !== JOBS || bulk.failed !== 0) wrong.push(`${bulk?.action}: ${bulk?.done} of ${JOBS} done`)
  }
  const queues = createQueueStore(world.engine)
  const counts = async (queue: string) => (await queues.getByName(GOOD_TEAM, queue))?.counts
  const [left, again] = [await counts('open'), await counts('dead')]
  if (left?.pending !== 0) wrong.push(`${left?.pending} jobs were not cancelled`)
  if (again?.pending !== JOBS || again.dead !== 0) wrong.push(`${again?.pending} jobs were made of ${JOBS}`)
  return wrong
}

test(
  "no exception over one team's messages keeps another's from being sent, once each",
  {
    timeout: 400_000,
  },
  async () => {
    expect(await playAll(playMessages)).toEqual([])
  },
)

test("no exception over one team's bulks keeps another's from ending", { timeout: 400_000 }, async () => {
  expect(await playAll(playBulks)).toEqual([])
})
