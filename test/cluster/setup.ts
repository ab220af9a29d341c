/** One control plane for all files of this layer: each makes namespaces of its own. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { startControlPlane, type ControlPlane } from '../support/cluster/control-plane.ts'
import { applyDefinitions, openKubernetesApi, type ClusterAccess } from '../support/cluster/kubernetes-api.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly clusterAccess: ClusterAccess
    /** A file for kubectl. */
    readonly kubeconfig: string
    /** As Kubernetes mounts it into a pod. */
    readonly accountFolder: string
    readonly etcdUrl: string
  }
}

const FIND = fileURLToPath(new URL('../../scripts/control-plane.sh', import.meta.url))
const DEFINITIONS = new URL('../../crds/', import.meta.url)

let controlPlane: ControlPlane | undefined

export async function setup(project: TestProject): Promise<void> {
  const binaries = execFileSync(FIND, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  controlPlane = await startControlPlane({ binaries })
  const api = openKubernetesApi(controlPlane.access)
  try {
    for (const file of readdirSync(DEFINITIONS).filter((name) => name.endsWith('.yaml'))) {
      await applyDefinitions(api, readFileSync(new URL(file, DEFINITIONS), 'utf8'))
    }
  } finally {
    await api.close()
  }
  project.provide('clusterAccess', controlPlane.access)
  project.provide('kubeconfig', controlPlane.kubeconfig)
  project.provide('accountFolder', controlPlane.accountFolder)
  project.provide('etcdUrl', controlPlane.etcdUrl)
}

export async function teardown(): Promise<void> {
  await controlPlane?.stop()
}
