/** The chart of this checkout as a release, the way a person installs and uninstalls it. */
import { fileURLToPath } from 'node:url'
import { RELEASE_NAMESPACE, runCommand, type KindAccess } from '../../support/cluster/kind-cluster.ts'
import { until } from '../../support/until.ts'

const RELEASE = 'punctual'
const HELM_TIMEOUT_MS = 300_000
const ANSWERING_TIMEOUT_MS = 60_000
const LEAVING_TIMEOUT_MS = 60_000

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

/** Upgrades the release where there is one; ends when its pods are ready and those of before are gone. */
export async function installRelease(kubeconfig: string): Promise<void> {
  const chart = [RELEASE, here('../../../charts/punctual'), '--values', here('values.yaml')]
  await helm(kubeconfig, 'upgrade', '--install', ...chart, '--create-namespace')
  // A pod on its way out goes on serving, with the settings of before.
  await until('the pods of before are gone', () => areNoneLeaving(kubeconfig), LEAVING_TIMEOUT_MS)
}

async function areNoneLeaving(kubeconfig: string): Promise<boolean> {
  const leaving = 'jsonpath={.items[*].metadata.deletionTimestamp}'
  const where = ['--kubeconfig', kubeconfig, '--namespace', RELEASE_NAMESPACE]
  const answer = await runCommand('kubectl', [...where, 'get', 'pods', '--output', leaving])
  return answer.trim() === ''
}

/** Ends when all objects that do not stay are gone. */
export async function uninstallRelease(kubeconfig: string): Promise<void> {
  await helm(kubeconfig, 'uninstall', RELEASE)
}

async function helm(kubeconfig: string, ...given: string[]): Promise<void> {
  const where = ['--kubeconfig', kubeconfig, '--namespace', RELEASE_NAMESPACE]
  const patience = ['--wait', '--timeout', `${HELM_TIMEOUT_MS / 1000}s`]
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
