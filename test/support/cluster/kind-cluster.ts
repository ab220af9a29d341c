/** A cluster of scripts/e2e.sh for scenarios: a release on it, commands with deadlines, the API server, the target. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Report } from '../../e2e/support/target-process.ts'
import { createApiClient, type ApiClient } from '../servers/api-client.ts'
import {
  openKubernetesApi,
  type AnyObject,
  type ClusterAccess,
  type KubernetesApi,
} from './kubernetes-api.ts'
import { until } from '../until.ts'

const COMMAND_TIMEOUT_MS = 120_000
/** The machine is busy with other scenarios. */
const IN_FORCE_TIMEOUT_MS = 60_000
const PATIENCE_MS = 60_000
const READY_TIMEOUT_SECONDS = 60
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** Where the chart is installed unless a scenario has a release of its own. */
export const RELEASE_NAMESPACE = 'punctual-system'

/** A cluster, as plain data that the setup passes to the scenarios. */
export interface KindAccess {
  readonly kubeconfig: string
  /** As a cluster administrator. */
  readonly cluster: ClusterAccess
  /** What leads to the node ports of scripts/e2e.sh, in their order. */
  readonly urls: readonly string[]
}

/** A release on a cluster. The first token belongs to the team that is named like the namespace. */
export interface ReleaseAccess {
  readonly namespace: string
  /** Punctual's API, through a Service. */
  readonly apiUrl: string
  readonly token: string
}

export interface Target {
  /** The URL for a job; the target records its arrivals under `label`. */
  url(label: string, order?: { readonly delayMs?: number; readonly status?: number }): string
  report(label: string): Promise<Report>
}

export interface KindCluster extends ReleaseAccess {
  readonly kubeconfig: string
  readonly kubernetes: KubernetesApi
  readonly punctual: ApiClient
  readonly target: Target
  /** Runs a command and returns its output. Throws with its error output. */
  kubectl(...given: string[]): Promise<string>
  /** The same in the namespace of the release. */
  inNamespace(...given: string[]): Promise<string>
  /** The HttpQueue of a queue of the first token's team; one created for a push has another name and appears later. */
  queueResource(queueName: string): Promise<AnyObject>
  /** Waits until resources in the namespace of the release are ready, such as `hq/emails`. */
  ready(...resources: string[]): Promise<void>
  /** Creates or changes an HttpQueue and waits until it is applied. */
  applyQueue(name: string, spec: object, timeoutMs?: number): Promise<void>
  /** Executor pods: desired and ready. */
  executors(): Promise<{ readonly wanted: number; readonly ready: number }>
  close(): Promise<void>
}

export function openKindCluster(access: KindAccess, release: ReleaseAccess): KindCluster {
  const { kubeconfig } = access
  const { namespace } = release
  const kubernetes = openKubernetesApi(access.cluster)
  const queues = `/apis/punctual.dev/v1alpha1/namespaces/${namespace}/httpqueues`
  const kubectl = (...given: string[]) => runCommand('kubectl', ['--kubeconfig', kubeconfig, ...given])
  const inNamespace = (...given: string[]) => kubectl('--namespace', namespace, ...given)
  return {
    ...release,
    kubeconfig,
    kubernetes,
    punctual: createApiClient(release.apiUrl, release.token, PATIENCE_MS),
    target: targetBehind(kubernetes),
    kubectl,
    inNamespace,
    ready: async (...resources) => {
      const patience = ['--for=condition=Ready', `--timeout=${READY_TIMEOUT_SECONDS}s`]
      await inNamespace('wait', ...resources, ...patience)
    },
    queueResource: (queueName) =>
      until(`${queueName} is a resource`, async () => {
        const { items } = (await kubernetes.send('GET', queues)) as unknown as { items: AnyObject[] }
        return items.find(({ metadata, spec }) => (spec?.['queueName'] ?? metadata.name) === queueName)
      }),
    applyQueue: async (name, spec, timeoutMs = IN_FORCE_TIMEOUT_MS) => {
      const queue = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', metadata: { name }, spec }
      await kubernetes.apply(JSON.stringify(queue), { namespace })
      const inForce = async () => isReady(await kubernetes.send('GET', `${queues}/${name}`))
      await until(`${name} is in force`, inForce, timeoutMs)
    },
    executors: async () => {
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/punctual-executor`
      const { spec, status } = await kubernetes.send('GET', path)
      return { wanted: Number(spec?.['replicas']), ready: Number(status?.['readyReplicas'] ?? 0) }
    },
    close: () => kubernetes.close(),
  }
}

/** For the newest generation: a condition may still be about the previous one. */
function isReady({ metadata, status }: AnyObject): boolean {
  const conditions = (status?.['conditions'] ?? []) as {
    type: string
    status: string
    observedGeneration?: number
  }[]
  return conditions.some(
    (one) =>
      one.type === 'Ready' && one.status === 'True' && one.observedGeneration === metadata['generation'],
  )
}

function targetBehind(kubernetes: KubernetesApi): Target {
  return {
    url: (label, { delayMs = 0, status = 200 } = {}) =>
      `http://target.targets.svc.cluster.local/calls/${label}?delay_ms=${delayMs}&status=${status}`,
    report: async (label) => {
      const path = `/api/v1/namespaces/targets/services/http:target:80/proxy/reports/${label}`
      return (await kubernetes.send('GET', path)) as unknown as Report
    },
  }
}

export interface CommandOptions {
  readonly timeoutMs?: number
}

/** @throws with the command and what it wrote to standard error */
export async function runCommand(
  command: string,
  given: readonly string[],
  { timeoutMs = COMMAND_TIMEOUT_MS }: CommandOptions = {},
): Promise<string> {
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_BYTES_MAX } as const
  const { stdout } = await promisify(execFile)(command, [...given], limits)
  return stdout
}
