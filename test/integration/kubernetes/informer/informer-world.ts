import { afterEach, beforeEach } from 'vitest'
import { createTransport, type Transport } from '../../../../src/kubernetes/client/transport.ts'
import { SharedInformer } from '../../../../src/kubernetes/informer/shared-informer.ts'
import type { KubeObject } from '../../../../src/ports/resource-store.ts'
import type { WatchEnd } from '../../../../src/ports/metrics.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock, quiescence, type FakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics, quietLogger } from '../../../support/quiet.ts'
import { until } from '../../../support/until.ts'

interface Queue extends KubeObject {
  readonly spec: { readonly queueName: string }
}

const KIND = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', plural: 'httpqueues' }
export const QUEUES = '/apis/punctual.dev/v1alpha1/httpqueues'

/** An informer of HttpQueues against a fake API server. */
export interface InformerWorld {
  server: FakeApiServer
  clock: FakeClock
  transport: Transport
  informer: SharedInformer<Queue>
  /** Of the failures logged, each followed by a pause. */
  pauses: number[]
  errors: string[]
  /** Lists answered and chunks of watches received. */
  heard: number
  ends: WatchEnd[]
  /** `+a/one`, `~a/one`, `-a/one`. */
  changes: string[]
}

/** Made for each test; undefined outside of one. */
export const world = {} as InformerWorld

/** Call once in a test file. */
export function useInformerWorld(): void {
  beforeEach(async () => {
    const clock = createFakeClock()
    const server = await startFakeApiServer()
    const transport = createTransport({
      config: server.config,
      clock,
      metrics: quietClusterMetrics,
      userAgent: 'punctual/test',
    })
    Object.assign(world, {
      server,
      clock,
      transport,
      pauses: [],
      errors: [],
      heard: 0,
      ends: [],
      changes: [],
    })
    world.informer = createInformer(null)
  })

  afterEach(async () => {
    await world.informer.stop()
    await world.transport.close()
    await world.server.close()
  })
}

export function createInformer(namespaces: readonly string[] | null): SharedInformer<Queue> {
  const logger = {
    ...quietLogger,
    warn: (_message: string, fields?: Record<string, unknown>) =>
      void world.pauses.push(Number(fields?.pauseMs)),
    error: (message: string) => void world.errors.push(message),
    child: () => logger,
  }
  const informer = new SharedInformer<Queue>({
    clock: world.clock,
    logger,
    metrics: {
      ...quietClusterMetrics,
      watchEnded: (_resource, end) => void world.ends.push(end),
      watchHeard: () => void (world.heard += 1),
    },
    transport: world.transport,
    random: () => 0.5,
    kind: KIND,
    namespaces,
    indexes: {},
  })
  informer.onChange((key, before, after) => {
    world.changes.push(`${before === undefined ? '+' : after === undefined ? '-' : '~'}${key}`)
  })
  return informer
}

export function put(name: string, queueName = name, namespace = 'a'): void {
  world.server.put(pathOf(name, namespace), { ...KIND, spec: { queueName } })
}

export function remove(name: string, namespace = 'a'): void {
  world.server.remove(pathOf(name, namespace))
}

function pathOf(name: string, namespace: string): string {
  return `/apis/punctual.dev/v1alpha1/namespaces/${namespace}/httpqueues/${name}`
}

export const sent = (verb: string): number =>
  world.server.requests.filter((request) => request.verb === verb).length
export const names = (): string[] => [...world.informer.all()].map(({ spec }) => spec.queueName).sort()
export const watch = () => world.server.watches[0]!

/** Starts and waits for the first watch. */
export async function startWatching(): Promise<void> {
  world.informer.start()
  await world.informer.whenSynced(new AbortController().signal)
  await watchOpen()
}

export async function watchOpen(): Promise<void> {
  await until('an open watch', () => world.server.watches.length === 1)
}

/** Sends one and waits until it was received. */
export async function bookmark(): Promise<void> {
  const before = world.heard
  watch().bookmark()
  await until('the bookmark', () => world.heard > before)
}

/** Lets the pause after the nth failure pass. */
export async function passPause(failures: number): Promise<void> {
  await until(`failure ${failures}`, () => world.pauses.length === failures)
  await quiescence()
  await world.clock.advance(world.pauses.at(-1) ?? 0)
}
