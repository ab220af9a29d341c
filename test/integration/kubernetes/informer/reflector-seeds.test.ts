/**
 * An informer under a seeded schedule of changes and faults, against the fake server over real sockets. Once the server
 * behaves, the copy equals it, and the reported changes add up to it.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SharedInformer } from '../../../../src/kubernetes/informer/shared-informer.ts'
import { createTransport } from '../../../../src/kubernetes/client/transport.ts'
import type { KubeObject } from '../../../../src/ports/resource-store.ts'
import { SeededRandom } from '../../../simulation/story/seeded-random.ts'
import type { Effect, Fault } from '../../../support/fake-api/fake-api-faults.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock, quiescence, type FakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics, quietLogger } from '../../../support/quiet.ts'

const KIND = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', plural: 'httpqueues' }
/** As for the simulation: `SEEDS=5000 FIRST_SEED=1` runs more seeds. */
const SEEDS = Number(process.env.SEEDS ?? 240)
const FIRST_SEED = Number(process.env.FIRST_SEED ?? 1)
const SEEDS_AT_ONCE = 12
const STEPS = 40
const NAMES = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox']
/** Fake time in which an informer must recover: three silences and the pauses between them. */
const RECOVERY_MS = 900_000
/** Real time that the sockets have at least: fake time may pass faster than they can answer. */
const SLOWEST_MS = 10_000

let server: FakeApiServer

beforeEach(async () => {
  server = await startFakeApiServer()
})

afterEach(() => server.close())

const BLOCKS = Math.ceil(SEEDS / SEEDS_AT_ONCE)

test.each(Array.from({ length: BLOCKS }, (_unused, block) => FIRST_SEED + block * SEEDS_AT_ONCE))(
  'seeds from %i on: at the end the copy is as the server is',
  async (first) => {
    const seeds = Array.from({ length: SEEDS_AT_ONCE }, (_unused, offset) => first + offset)
    const ends = await Promise.all(seeds.map(async (seed) => ({ seed, problem: await problemOf(seed) })))
    expect(ends.filter(({ problem }) => problem !== null)).toEqual([])
  },
)

/** Runs one seed; null = all went well. */
async function problemOf(seed: number): Promise<string | null> {
  const random = new SeededRandom(seed)
  const clock = createFakeClock()
  const namespace = `seed-${seed}`
  const transport = createTransport({
    config: server.config,
    clock,
    metrics: quietClusterMetrics,
    userAgent: 'test',
  })
  const informer = new SharedInformer({
    clock,
    logger: quietLogger,
    metrics: quietClusterMetrics,
    transport,
    random: () => random.next(),
    kind: KIND,
    namespaces: [namespace],
    indexes: {},
  })
  const mirror = mirrorOf(informer)
  informer.start()
  for (let step = 0; step < STEPS; step += 1) {
    await act(random, namespace, clock)
    await quiescence()
  }
  server.faults.drop(`/${namespace}/`)
  const expected = versionsOf(server.list(`/apis/punctual.dev/v1alpha1/namespaces/${namespace}/httpqueues`))
  const isEqual = () => informer.isSynced() && versionsOf(informer.all()) === expected
  const slowestMs = performance.now() + SLOWEST_MS
  const isInTime = (waitedMs: number) => waitedMs < RECOVERY_MS || performance.now() < slowestMs
  for (let waitedMs = 0; !isEqual() && isInTime(waitedMs); waitedMs += 10_000) {
    await clock.advance(10_000)
    await quiescence()
  }
  await informer.stop()
  await transport.close()
  if (!isEqual()) return `the copy is ${versionsOf(informer.all())}, the server ${expected}`
  if (mirror.problem() !== null) return mirror.problem()
  return clock.timers === 0 ? null : `${clock.timers} timers are left`
}

/** Adds up the reported changes, and finds contradictions. */
function mirrorOf(informer: SharedInformer<KubeObject>): { problem(): string | null } {
  const reported = new Map<string, KubeObject>()
  let problem: string | null = null
  informer.onChange((key, before, after) => {
    if (reported.get(key) !== before) problem = `${key} was reported to change from what it was not`
    if (before?.metadata.resourceVersion === after?.metadata.resourceVersion)
      problem = `${key} was reported twice`
    if (before !== undefined && after !== undefined && before.metadata.uid !== after.metadata.uid) {
      problem = `${key} was reported to change into another object`
    }
    if (after === undefined) reported.delete(key)
    else reported.set(key, after)
  })
  return {
    problem: () =>
      problem ??
      (versionsOf(reported.values()) === versionsOf(informer.all()) ? null : 'something was not reported'),
  }
}

function versionsOf(
  objects: Iterable<{ readonly metadata: { readonly name: string; readonly resourceVersion: string } }>,
) {
  return [...objects]
    .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
    .sort()
    .join(' ')
}

/** One thing that happens. */
async function act(random: SeededRandom, namespace: string, clock: FakeClock): Promise<void> {
  const path = `/apis/punctual.dev/v1alpha1/namespaces/${namespace}/httpqueues/${random.pick(NAMES)}`
  const watch = server.watches.find((one) => one.namespace === namespace)
  const roll = random.integer(1, 20)
  if (roll <= 6) server.put(path, { ...KIND, spec: { queueName: `büro ${random.integer(1, 99)}` } })
  else if (roll <= 8) removeIfThere(path)
  else if (roll === 9) {
    removeIfThere(path)
    server.put(path, { ...KIND, spec: { queueName: 'again' } })
  } else if (roll <= 11) server.faults.add(faultOf(random, namespace))
  else if (roll === 12) watch?.reset()
  else if (roll === 13) watch?.end()
  else if (roll === 14) watch?.silence()
  else if (roll === 15) watch?.error(random.pick([410, 500]), 'OnCommand')
  else if (roll === 16)
    watch?.write(random.pick(['{"type":"ADD', 'no JSON\n', '\n', '{"type":"ADDED","object":{}}\n']))
  else if (roll === 17) watch?.bookmark()
  else if (roll === 18) server.compact()
  else await clock.advance(random.pick([500, 5_000, 60_000, 200_000]))
}

function removeIfThere(path: string): void {
  if (server.get(path) !== undefined) server.remove(path)
}

function faultOf(random: SeededRandom, namespace: string): Fault {
  const verb = random.pick(['list', 'watch'] as const)
  const anywhere: Effect[] = [
    { do: 'answer', code: random.pick([401, 403, 404, 500, 503]) },
    { do: 'answer', code: 410, reason: 'Expired' },
    { do: 'answer', code: 429, retryAfterSeconds: 3 },
    { do: 'hang' },
    { do: 'reset' },
    { do: 'cut', bytes: random.integer(1, 300) },
    { do: 'split', bytes: random.integer(1, 50) },
  ]
  const watches: Effect[] = [
    { do: 'silence' },
    { do: 'duplicate' },
    { do: 'end', after: random.integer(0, 3) },
    { do: 'error-event', after: random.integer(0, 3), code: random.pick([410, 504]), reason: 'OnCommand' },
  ]
  const lists: Effect[] = [{ do: 'garble' }, { do: 'stall', bytes: random.integer(1, 100) }]
  const effect = random.pick([...anywhere, ...(verb === 'watch' ? watches : lists)])
  return { verb, path: `/${namespace}/`, times: random.integer(1, 3), effect }
}
