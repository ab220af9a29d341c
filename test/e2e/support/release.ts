/** The chart of this checkout as a release, the way a person installs and uninstalls it. */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { RELEASE_NAMESPACE, runCommand, type KindAccess } from '../../support/cluster/kind-cluster.ts'
import { documentsOf, openKubernetesApi, type AnyObject } from '../../support/cluster/kubernetes-api.ts'
import { until } from '../../support/until.ts'

export const RELEASE = 'punctual'
const HELM_TIMEOUT_MS = 300_000
const ANSWERING_TIMEOUT_MS = 60_000
const LEAVING_TIMEOUT_MS = 60_000
const SECRETS = ['punctual-token', 'punctual-key', 'punctual-redis']
const VOLUME_CLAIM = 'data-punctual-redis-0'

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
export const CHART = here('../../../charts/punctual')

/** Upgrades the release where there is one; ends when its pods are ready and those of before are gone. */
export async function installRelease(kubeconfig: string): Promise<void> {
  const chart = [RELEASE, CHART, '--values', here('values.yaml')]
  await helm(kubeconfig, 'upgrade', '--install', ...chart, '--create-namespace', '--wait')
  // A pod on its way out goes on serving, with the settings of before.
  await until('the pods of before are gone', () => areNoneLeaving(kubeconfig), LEAVING_TIMEOUT_MS)
}

/** The objects that `helm template` prints, those of hooks among them. @param set as after `--set` */
export async function renderedWithHooks(set: string): Promise<readonly AnyObject[]> {
  const given = [
    'template',
    RELEASE,
    CHART,
    '--namespace',
    RELEASE_NAMESPACE,
    '--values',
    here('values.yaml'),
  ]
  return documentsOf(await runCommand('helm', [...given, '--set', set]))
}

async function areNoneLeaving(kubeconfig: string): Promise<boolean> {
  const leaving = 'jsonpath={.items[*].metadata.deletionTimestamp}'
  const answer = await inNamespace(kubeconfig, 'get', 'pods', '--output', leaving)
  return answer.trim() === ''
}

/** Ends when all objects that do not stay are gone. */
export async function uninstallRelease(kubeconfig: string): Promise<void> {
  await helm(kubeconfig, 'uninstall', RELEASE, '--wait')
}

/** The commands of "Removing everything" in docs/install.md, with other names and less patience. */
export async function removeEverything(kubeconfig: string): Promise<void> {
  const given = ['--reset-then-reuse-values', '--set', 'crds.keep=false', '--wait']
  await helm(kubeconfig, 'upgrade', RELEASE, CHART, ...given)
  await uninstallRelease(kubeconfig)
  await inNamespace(kubeconfig, 'delete', 'secret', '--ignore-not-found', ...SECRETS)
  await inNamespace(kubeconfig, 'delete', 'pvc', '--ignore-not-found', VOLUME_CLAIM)
}

/** Back to what the setup made, after scenarios that removed it: a release, and the token that the others use. */
export async function restoreRelease(access: KindAccess): Promise<void> {
  const { kubeconfig, token } = access
  await installRelease(kubeconfig)
  if ((await firstToken(kubeconfig)) !== token) await acceptToken(access)
  await apiAnswers(access)
}

async function acceptToken({ cluster, token }: KindAccess): Promise<void> {
  const kubernetes = openKubernetesApi(cluster)
  const metadata = { name: 'of-scenarios', namespace: RELEASE_NAMESPACE }
  const spec = { sha256: createHash('sha256').update(token).digest('hex') }
  try {
    await kubernetes.apply(
      JSON.stringify({ apiVersion: 'punctual.dev/v1alpha1', kind: 'ApiToken', metadata, spec }),
    )
  } finally {
    await kubernetes.close()
  }
}

export async function firstToken(kubeconfig: string): Promise<string> {
  const secret = ['get', 'secret', 'punctual-token', '--output', 'jsonpath={.data.token}']
  const token = await inNamespace(kubeconfig, ...secret)
  return Buffer.from(token, 'base64').toString()
}

function inNamespace(kubeconfig: string, ...given: string[]): Promise<string> {
  return runCommand('kubectl', ['--kubeconfig', kubeconfig, '--namespace', RELEASE_NAMESPACE, ...given])
}

/** @throws with what Helm said */
export async function helm(kubeconfig: string, ...given: string[]): Promise<void> {
  const where = ['--kubeconfig', kubeconfig, '--namespace', RELEASE_NAMESPACE]
  const patience = ['--timeout', `${HELM_TIMEOUT_MS / 1000}s`]
  await runCommand('helm', [...given, ...where, ...patience], { timeoutMs: HELM_TIMEOUT_MS + 10_000 })
}

/**
 * A ready pod stands behind the Service a moment later; and where Redis was kept, the token of a new install is in
 * force last. Answers what the API said until then.
 */
export async function apiAnswers({
  apiUrl,
  token,
}: Pick<KindAccess, 'apiUrl' | 'token'>): Promise<readonly number[]> {
  const statuses: number[] = []
  const answers = async () => {
    try {
      const headers = { authorization: `Bearer ${token}` }
      const { status } = await fetch(`${apiUrl}/api/queues`, { headers })
      statuses.push(status)
      return status === 200
    } catch {
      return false
    }
  }
  await until('the API answers through the Service', answers, ANSWERING_TIMEOUT_MS)
  return statuses
}
