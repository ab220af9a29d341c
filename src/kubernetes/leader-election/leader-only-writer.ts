import { ResourceApiError } from '../../domain/errors.ts'
import type { Leadership, ResourceWriter } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'

/**
 * Wraps a writer so that it checks before each write whether this process still leads. A process that was frozen in the
 * middle of a reconcile wakes before its signal aborts, and its write would be older than what the next leader has
 * written; no reconcile would repair that, because a change of the status alone triggers none.
 */
export function leaderOnlyWriter<T extends KubeObject>(
  writer: ResourceWriter<T>,
  leadership: Pick<Leadership, 'isLeader'>,
): ResourceWriter<T> {
  const guarded =
    <Args extends readonly unknown[], Answer>(write: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      if (!leadership.isLeader()) {
        throw new ResourceApiError('unavailable', 'not written, because this process no longer leads')
      }
      return write(...args)
    }
  return {
    read: (namespace, name) => writer.read(namespace, name),
    readAll: (namespace) => writer.readAll(namespace),
    create: guarded(writer.create.bind(writer)),
    patchSpec: guarded(writer.patchSpec.bind(writer)),
    applyStatus: guarded(writer.applyStatus.bind(writer)),
    setFinalizer: guarded(writer.setFinalizer.bind(writer)),
    remove: guarded(writer.remove.bind(writer)),
  }
}
