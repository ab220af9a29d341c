import { ignoreNotFound } from '../client/api-errors.ts'
import { objectPath } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'
import { SECRETS } from '../resources/secret-reader.ts'

/** How Helm names the Secret of a revision: https://helm.sh/docs/topics/advanced/#storage-backends */
const SECRET_PREFIX = 'sh.helm.release.v1.'
/**
 * A rollback stores an earlier revision's hooks under a new number, so the newest revision may be this far ahead of the
 * one that a hook was rendered in. The chart gives the right to read as many Secrets.
 */
export const LATER_REVISIONS_MAX = 20

interface ReleaseSecret {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> }
}

/**
 * Answers what Helm says of a release: the status of its newest revision, such as `deployed` or `uninstalling`. Helm
 * writes the latter before it makes the first object of a hook. null = Helm keeps no such release in Secrets of this
 * namespace. Throws ResourceApiError.
 * @property revision one that exists or did, from 1
 */
export async function helmStatusOf(
  transport: Transport,
  {
    namespace,
    release,
    revision,
  }: { readonly namespace: string; readonly release: string; readonly revision: number },
): Promise<string | null> {
  for (let later = LATER_REVISIONS_MAX; later >= 0; later -= 1) {
    const name = `${SECRET_PREFIX}${release}.v${revision + later}`
    const path = objectPath(SECRETS, { namespace, name })
    const secret = await ignoreNotFound(transport.request<ReleaseSecret>({ method: 'GET', path }))
    const labels = secret?.metadata?.labels
    if (labels?.['owner'] === 'helm') return labels['status'] ?? null
  }
  return null
}
