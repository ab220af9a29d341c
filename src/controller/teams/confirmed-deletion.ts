import type { ObjectKey, ResourceWriter } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import { isDeleted } from '../../resources/finalizers.ts'
import { parseKey } from '../../resources/queue-owner.ts'

/**
 * Tells whether the API server itself has no such object, or a deleted one. An informer that was emptied by mistake
 * must not revoke tokens or remove a team's settings. Throws ResourceApiError.
 */
export async function isDeletionConfirmed(
  writer: Pick<ResourceWriter<KubeObject>, 'read'>,
  key: ObjectKey,
): Promise<boolean> {
  const { team, name } = parseKey(key)
  const found = await writer.read(team, name)
  return found === null || isDeleted(found)
}
