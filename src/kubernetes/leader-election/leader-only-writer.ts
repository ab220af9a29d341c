import { ResourceApiError } from '../../domain/errors.ts'
import type { KubeObject, Leadership, ResourceWriter } from '../../ports/kubernetes.ts'

/**
 * A writer that asks before each write whether this process still leads. One that was stopped in the middle of a turn
 * wakes before its signal aborts; what it would write then is older than what the next leader has written, and a
 * status that changes alone gives nobody a turn to mend it.
 */
export function writeWhileLeading<T extends KubeObject>(
  writer: ResourceWriter<T>,
  leadership: Pick<Leadership, 'isLeader'>,
): ResourceWriter<T> {
  const leading =
    <Args extends readonly unknown[], Answer>(write: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      if (!leadership.isLeader())
        throw new ResourceApiError('unavailable', 'nothing: this process leads no more')
      return write(...args)
    }
  return {
    read: (namespace, name) => writer.read(namespace, name),
    readAll: (namespace) => writer.readAll(namespace),
    create: leading(writer.create.bind(writer)),
    patchSpec: leading(writer.patchSpec.bind(writer)),
    applyStatus: leading(writer.applyStatus.bind(writer)),
    setFinalizer: leading(writer.setFinalizer.bind(writer)),
    remove: leading(writer.remove.bind(writer)),
  }
}
