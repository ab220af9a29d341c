/**
 * Readies the clusters that scripts/e2e.sh made: the target on each, and on the shared one the chart of this checkout,
 * whose first job it sees through. Clusters that were kept are used again. Only E2E_CLUSTERS names them: never the
 * cluster that kubectl happens to point at.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import {
  openKindCluster,
  RELEASE_NAMESPACE,
  runCommand,
  type KindAccess,
  type ReleaseAccess,
} from '../../support/cluster/kind-cluster.ts'
import { openKubernetesApi, type ClusterAccess } from '../../support/cluster/kubernetes-api.ts'
import { apiAnswers, firstToken, installRelease } from './release.ts'

/** As in scripts/e2e.sh. */
const CLUSTERS = ['shared', 'releases', 'alone'] as const
type ClusterName = (typeof CLUSTERS)[number]

/** What somebody met who used the chart as soon as it was installed. */
interface FirstUse {
  /** What the API answered. */
  readonly statuses: readonly number[]
  /** From the start of `helm install` to the end of the first job. */
  readonly seconds: number
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly kindAccess: Readonly<Record<ClusterName, KindAccess>>
    readonly sharedRelease: ReleaseAccess
    readonly firstUse: FirstUse
  }
}

/** A value of E2E_CLUSTERS. */
type Given = Pick<KindAccess, 'kubeconfig' | 'urls'>

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const FIRST_JOB_TIMEOUT_MS = 120_000
/** Teams in other namespaces have releases of their own there, see open-release.ts. */
const SHARED = ['namespaceSelector=punctual.dev/e2e=shared']

export async function setup(project: TestProject): Promise<void> {
  const { E2E_CLUSTERS: given } = process.env
  if (given === undefined) throw new Error('E2E_CLUSTERS is not set: run make e2e, which makes clusters')
  const clusters = JSON.parse(given) as Record<ClusterName, Given>
  const ready = await Promise.all(CLUSTERS.map((name) => readyCluster(clusters[name])))
  const [shared, releases, alone] = ready as [KindAccess, KindAccess, KindAccess]
  project.provide('kindAccess', { shared, releases, alone })
  const { release, firstUse } = await useFirst(shared)
  process.stdout.write(`From helm install to the end of the first job: ${firstUse.seconds.toFixed(1)} s\n`)
  project.provide('sharedRelease', release)
  project.provide('firstUse', firstUse)
}

function kubectl(kubeconfig: string, ...given: string[]): Promise<string> {
  return runCommand('kubectl', ['--kubeconfig', kubeconfig, ...given])
}

async function readyCluster({ kubeconfig, urls }: Given): Promise<KindAccess> {
  await kubectl(kubeconfig, 'apply', '--server-side', '--filename', here('surroundings.yaml'))
  const cluster = await accessOfScenarios(kubeconfig)
  await startTarget(kubeconfig, cluster)
  return { kubeconfig, urls, cluster }
}

async function accessOfScenarios(kubeconfig: string): Promise<ClusterAccess> {
  const config = JSON.parse(await kubectl(kubeconfig, 'config', 'view', '--raw', '--output', 'json'))
  const { server, 'certificate-authority-data': authority } = config.clusters[0].cluster
  const token = await kubectl(kubeconfig, '-n', 'targets', 'create', 'token', 'scenarios', '--duration', '8h')
  return { url: server, caPem: Buffer.from(authority, 'base64').toString(), token: token.trim() }
}

/** Started anew each time: its ledgers begin empty. */
async function startTarget(kubeconfig: string, cluster: ClusterAccess): Promise<void> {
  const kubernetes = openKubernetesApi(cluster)
  try {
    const data = { 'target-process.ts': readFileSync(here('target-process.ts'), 'utf8') }
    const metadata = { name: 'target', namespace: 'targets' }
    await kubernetes.apply(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }))
  } finally {
    await kubernetes.close()
  }
  await kubectl(kubeconfig, '-n', 'targets', 'rollout', 'restart', 'deployment/target')
  await kubectl(kubeconfig, '-n', 'targets', 'rollout', 'status', 'deployment/target', '--timeout=100s')
}

/** Installs the chart and sees a job through. */
async function useFirst(access: KindAccess): Promise<{ release: ReleaseAccess; firstUse: FirstUse }> {
  const place = { kubeconfig: access.kubeconfig, namespace: RELEASE_NAMESPACE }
  const startedAt = performance.now()
  await installRelease(place, SHARED)
  const release = {
    namespace: RELEASE_NAMESPACE,
    apiUrl: access.urls[0] ?? '',
    token: await firstToken(place),
  }
  const cluster = openKindCluster(access, release)
  try {
    const statuses = await apiAnswers(release)
    const { job_id: id } = await cluster.punctual.push({ queue: 'first', url: cluster.target.url('first') })
    await cluster.punctual.ended(id, FIRST_JOB_TIMEOUT_MS)
    return { release, firstUse: { statuses, seconds: (performance.now() - startedAt) / 1000 } }
  } finally {
    await cluster.close()
  }
}
