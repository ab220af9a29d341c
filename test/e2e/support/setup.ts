/**
 * Installs the chart of this checkout and the target on the cluster that scripts/e2e.sh made, or upgrades them on one
 * that was kept, and sees the first job through. A cluster is taken only by E2E_KUBECONFIG: never the one that kubectl
 * happens to point at.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { openKindCluster, runCommand, type KindAccess } from '../../support/cluster/kind-cluster.ts'
import { openKubernetesApi, type ClusterAccess } from '../../support/cluster/kubernetes-api.ts'
import { apiAnswers, firstToken, installRelease } from './release.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly kindAccess: KindAccess
  }
}

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const FIRST_JOB_TIMEOUT_MS = 120_000

export async function setup(project: TestProject): Promise<void> {
  const { E2E_KUBECONFIG: kubeconfig, E2E_API_URL: apiUrl } = process.env
  if (kubeconfig === undefined || apiUrl === undefined) {
    throw new Error('E2E_KUBECONFIG and E2E_API_URL are not set: run make e2e, which makes a cluster')
  }
  await kubectl(kubeconfig, 'apply', '--server-side', '--filename', here('surroundings.yaml'))
  const cluster = await accessOfScenarios(kubeconfig)
  await startTarget(kubeconfig, cluster)
  const startedAt = performance.now()
  await installRelease(kubeconfig)
  const access = { kubeconfig, cluster, apiUrl, token: await firstToken(kubeconfig) }
  const firstStatuses = await seeFirstJob(access)
  const firstJobSeconds = (performance.now() - startedAt) / 1000
  process.stdout.write(`From helm install to the end of the first job: ${firstJobSeconds.toFixed(1)} s\n`)
  project.provide('kindAccess', { ...access, firstStatuses, firstJobSeconds })
}

function kubectl(kubeconfig: string, ...given: string[]): Promise<string> {
  return runCommand('kubectl', ['--kubeconfig', kubeconfig, ...given])
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

/** Answers what the API said to a client that came as soon as the install was done. */
async function seeFirstJob(
  access: Omit<KindAccess, 'firstStatuses' | 'firstJobSeconds'>,
): Promise<readonly number[]> {
  const cluster = openKindCluster(access)
  try {
    const statuses = await apiAnswers(access)
    const { job_id: id } = await cluster.punctual.push({ queue: 'first', url: cluster.target.url('first') })
    await cluster.punctual.ended(id, FIRST_JOB_TIMEOUT_MS)
    return statuses
  } finally {
    await cluster.close()
  }
}
