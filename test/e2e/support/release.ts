/** The chart of this checkout as a release, the way a person installs and uninstalls it. */
import { fileURLToPath } from 'node:url'
import { RELEASE_NAMESPACE, runCommand, type ReleaseAccess } from '../../support/cluster/kind-cluster.ts'
import { documentsOf, type AnyObject } from '../../support/cluster/kubernetes-api.ts'
import { until } from '../../support/until.ts'

export const RELEASE = 'punctual'
const HELM_TIMEOUT_MS = 300_000
const ANSWERING_TIMEOUT_MS = 60_000
const LEAVING_TIMEOUT_MS = 60_000
const SECRETS = [
  'punctual-token',
  'punctual-key',
  'punctual-redis',
  'punctual-redis-api',
  'punctual-redis-executor',
]
const VOLUME_CLAIM = 'data-punctual-redis-0'

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
export const CHART = here('../../../charts/punctual')

/** Where a release is, or will be. */
export interface Place {
  readonly kubeconfig: string
  readonly namespace: string
}

/**
 * Upgrades the release where there is one; ends when its pods are ready and those of before are gone.
 * @param set as after `--set`
 */
export async function installRelease(place: Place, set: readonly string[] = []): Promise<void> {
  const further = set.flatMap((value) => ['--set', value])
  const chart = [RELEASE, CHART, '--values', here('values.yaml'), ...further]
  await helm(place, 'upgrade', '--install', ...chart, '--wait')
  // A pod on its way out goes on serving, with the settings of before.
  await until('the pods of before are gone', () => areNoneLeaving(place), LEAVING_TIMEOUT_MS)
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

async function areNoneLeaving(place: Place): Promise<boolean> {
  const leaving = 'jsonpath={.items[*].metadata.deletionTimestamp}'
  const answer = await inNamespace(place, 'get', 'pods', '--output', leaving)
  return answer.trim() === ''
}

export async function isInstalled({ kubeconfig, namespace }: Place): Promise<boolean> {
  const given = ['list', '--short', '--kubeconfig', kubeconfig, '--namespace', namespace]
  return (await runCommand('helm', given)).split('\n').includes(RELEASE)
}

/** Ends when all objects that do not stay are gone. */
export async function uninstallRelease(place: Place): Promise<void> {
  await helm(place, 'uninstall', RELEASE, '--wait')
}

/** The commands of "Removing everything" in docs/install.md, with other names and less patience. */
export async function removeEverything(place: Place): Promise<void> {
  const given = ['--reset-then-reuse-values', '--set', 'crds.keep=false', '--wait']
  await helm(place, 'upgrade', RELEASE, CHART, ...given)
  await uninstallRelease(place)
  await inNamespace(place, 'delete', 'secret', '--ignore-not-found', ...SECRETS)
  await inNamespace(place, 'delete', 'pvc', '--ignore-not-found', VOLUME_CLAIM)
}

/** Of a release that is there. */
export async function firstToken(place: Place): Promise<string> {
  const secret = ['get', 'secret', 'punctual-token', '--output', 'jsonpath={.data.token}']
  const token = await inNamespace(place, ...secret)
  return Buffer.from(token, 'base64').toString()
}

function inNamespace({ kubeconfig, namespace }: Place, ...given: string[]): Promise<string> {
  return runCommand('kubectl', ['--kubeconfig', kubeconfig, '--namespace', namespace, ...given])
}

/** @throws with what Helm said */
export async function helm({ kubeconfig, namespace }: Place, ...given: string[]): Promise<void> {
  const where = ['--kubeconfig', kubeconfig, '--namespace', namespace]
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
}: Pick<ReleaseAccess, 'apiUrl' | 'token'>): Promise<readonly number[]> {
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
