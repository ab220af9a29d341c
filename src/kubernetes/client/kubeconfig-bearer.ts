import type { RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'

/**
 * Reads the bearer token with which the current context of a kubeconfig logs in, from the file itself or from the
 * program that it names. null = it logs in otherwise, for example by a certificate.
 * @param kubeconfig YAML or JSON
 */
export async function bearerOfKubeconfig(kubeconfig: string): Promise<string | null> {
  const config = new KubeConfig()
  config.loadFromString(kubeconfig)
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  const headers = Object.entries((options.headers ?? {}) as Readonly<Record<string, string>>)
  const [, authorization] = headers.find(([name]) => name.toLowerCase() === 'authorization') ?? []
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null
}
