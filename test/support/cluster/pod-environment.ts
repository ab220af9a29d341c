import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterAccess } from './kubernetes-api.ts'

const PRELOADED = new URL('pod-process.ts', import.meta.url).href

/** Writes the account of a pod as Kubernetes mounts it, and answers its folder, which it makes. */
export function writeAccount({ token, caPem }: ClusterAccess, folder: string): string {
  mkdirSync(folder)
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 })
  writeFileSync(join(folder, 'ca.crt'), caPem)
  return folder
}

/**
 * What a program needs to find its API server as a pod does, without the reader of kubeconfigs, which takes half of its
 * start and which the image does not have.
 */
export function podEnvironment(
  { url }: ClusterAccess,
  accountFolder: string,
): Readonly<Record<string, string>> & { readonly NODE_OPTIONS: string } {
  const { hostname, port } = new URL(url)
  return {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    ACCOUNT_FOLDER: accountFolder,
    NODE_OPTIONS: `--import=${PRELOADED}`,
  }
}
