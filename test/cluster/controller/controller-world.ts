import { hash } from 'node:crypto'
import { inject } from 'vitest'
import {
  newNamespace,
  openKubernetesApi,
  type AnyObject,
  type KubernetesApi,
} from '../../support/cluster/kubernetes-api.ts'
import { podEnvironment } from '../../support/cluster/pod-environment.ts'
import { openEngine, type TestEngine } from '../../support/engine/engine.ts'
import { runProgram, type Program } from '../../support/servers/processes.ts'
import { WITH_QUICK_CLOCK } from '../../support/servers/quick-clock.ts'
import { freePort, startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'

export const API_VERSION = 'punctual.dev/v1alpha1'
export const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64')

const REASON_TIMEOUT_MS = 30_000
/** Some start beside each other, on two cores. */
const START_TIMEOUT_MS = 60_000

/** One operator's worth: a namespace of the real API server, a real Redis, and controllers as real processes. */
export interface ControllerWorld {
  readonly api: KubernetesApi
  readonly namespace: string
  readonly redis: TestRedis
  readonly engine: TestEngine
  /** A controller that watches only this namespace, by a quick clock and as in a pod; resolves when it runs. */
  start(env?: Readonly<Record<string, string>>): Promise<Program & { readonly opsUrl: string }>
  /** An API of the namespace, with a token of the namespace's team that it takes; answers when it listens. */
  startApi(env?: Readonly<Record<string, string>>): Promise<ControllerApi>
  apply(kind: string, name: string, spec: object): Promise<AnyObject>
  /** Makes a Secret of these texts, or changes it. */
  putSecret(name: string, data: Readonly<Record<string, string>>, marks?: SecretMarks): Promise<void>
  get(kind: string, name: string): Promise<AnyObject>
  /** null = it does not exist. */
  find(kind: string, name: string): Promise<AnyObject | null>
  condition(kind: string, name: string, type: string): Promise<Condition | undefined>
  /** Waits until the condition has this reason. */
  reason(kind: string, name: string, reason: string, type?: string, timeoutMs?: number): Promise<Condition>
  remove(kind: string, name: string): Promise<void>
  /** Whatever finalizer holds it. */
  force(kind: string, name: string): Promise<void>
  close(): Promise<void>
}

/** What says who may use a Secret for what; without any it is Opaque, and its values may go anywhere. */
export interface SecretMarks {
  readonly type?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export interface ControllerApi {
  readonly program: Program
  readonly url: string
  readonly token: string
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
}

export async function openControllerWorld(): Promise<ControllerWorld> {
  const api = openKubernetesApi(inject('clusterAccess'))
  const namespace = await newNamespace(api)
  const redis = await startRedis()
  const engine = await openEngine(redis.url)
  const programs: Program[] = []
  const inPod = podEnvironment(inject('clusterAccess'), inject('accountFolder'))

  const nameOf = (kind: string, name: string) => ({ apiVersion: API_VERSION, kind, name, namespace })
  const find = async (kind: string, name: string): Promise<AnyObject | null> => {
    try {
      return await api.get(nameOf(kind, name))
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 404) return null
      throw error
    }
  }
  const condition = async (kind: string, name: string, type: string): Promise<Condition | undefined> => {
    const found = await find(kind, name)
    const conditions = (found?.status?.['conditions'] ?? []) as Condition[]
    return conditions.find((one) => one.type === type)
  }
  const force: ControllerWorld['force'] = async (kind, name) => {
    const path = await api.pathOf(nameOf(kind, name))
    const patch = { metadata: { finalizers: null } }
    await api.send('PATCH', path, patch, 'application/merge-patch+json')
    await api.delete(nameOf(kind, name)).catch(() => undefined)
    await until(`${name} is deleted`, async () => (await find(kind, name)) === null)
  }
  const apply: ControllerWorld['apply'] = async (kind, name, spec) => {
    const manifest = { apiVersion: API_VERSION, kind, metadata: { name, namespace }, spec }
    const [applied] = await api.apply(JSON.stringify(manifest))
    if (applied === undefined) throw new Error('nothing was applied')
    return applied
  }
  const putSecret: ControllerWorld['putSecret'] = async (
    name,
    data,
    { type = 'Opaque', labels = {}, annotations = { 'punctual.dev/hosts': '*' } } = {},
  ) => {
    const metadata = { name, namespace, labels, annotations }
    await api.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', type, metadata, stringData: data }))
  }
  const reason: ControllerWorld['reason'] = (
    kind,
    name,
    wanted,
    type = 'Ready',
    timeoutMs = REASON_TIMEOUT_MS,
  ) => {
    const read = async (): Promise<Condition | null> => {
      const found = await condition(kind, name, type)
      return found?.reason === wanted ? found : null
    }
    return until(`${kind} ${name} is ${wanted}`, read, timeoutMs)
  }
  const startApi: ControllerWorld['startApi'] = async (env = {}) => {
    const token = 'the-token-of-this-test-and-no-other'
    await apply('ApiToken', 'test', { sha256: hash('sha256', token, 'hex') })
    await reason('ApiToken', 'test', 'Reconciled')
    const program = runProgram(['api'], {
      ...inPod,
      PUNCTUAL_PORT: '0',
      PUNCTUAL_OPS_PORT: '0',
      PUNCTUAL_REDIS_URL: redis.url,
      PUNCTUAL_RESOURCES: 'kubernetes',
      PUNCTUAL_WATCH_NAMESPACES: namespace,
      PUNCTUAL_LOG_FORMAT: 'json',
      ...env,
    })
    programs.push(program)
    const { url } = await program.logged('The API listens', { timeoutMs: START_TIMEOUT_MS })
    return { program, url: String(url), token }
  }
  return {
    api,
    namespace,
    redis,
    engine,
    startApi,
    start: async ({ NODE_OPTIONS: more = '', ...env } = {}) => {
      const opsPort = await freePort()
      const program = runProgram(['controller'], {
        ...inPod,
        NODE_OPTIONS: `${inPod.NODE_OPTIONS} ${WITH_QUICK_CLOCK} ${more}`,
        PUNCTUAL_REDIS_URL: redis.url,
        PUNCTUAL_SECRETS_KEY: SECRETS_KEY,
        PUNCTUAL_POD_NAMESPACE: namespace,
        PUNCTUAL_POD_NAME: `controller-${programs.length}`,
        PUNCTUAL_WATCH_NAMESPACES: namespace,
        PUNCTUAL_OPS_PORT: String(opsPort),
        PUNCTUAL_LOG_FORMAT: 'json',
        PUNCTUAL_SCALING_MODE: 'fixed',
        ...env,
      })
      programs.push(program)
      await program.logged('The controller runs', { timeoutMs: START_TIMEOUT_MS })
      return Object.assign(program, { opsUrl: `http://127.0.0.1:${opsPort}` })
    },
    apply,
    putSecret,
    get: (kind, name) => api.get(nameOf(kind, name)),
    find,
    condition,
    reason,
    remove: (kind, name) => api.delete(nameOf(kind, name)),
    force,
    close: async () => {
      for (const program of programs) if (program.isRunning()) program.signal('SIGKILL')
      await Promise.all(programs.map(({ exited }) => exited))
      engine.close()
      await redis.stop()
      await api.close()
    },
  }
}
