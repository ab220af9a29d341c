import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import { keyOf } from '../kinds.ts'

/** Has resources reconciled when another one that they name appears or disappears. */
export function watchNamed<Named extends KubeObject>(
  named: Pick<Informer<Named>, 'onChange'>,
  by: Pick<Informer<KubeObject>, 'byIndex'>,
  watch: {
    readonly index: string
    /** Answers the index entry of the resources that name it. */
    readonly entryOf: (named: Named) => string
    readonly enqueue: (key: ObjectKey, priority: 'low') => void
  },
): void {
  named.onChange((_key, before, after) => {
    if (before !== undefined && after !== undefined) return
    const object = after ?? before
    if (object === undefined) return
    for (const one of by.byIndex(watch.index, watch.entryOf(object))) watch.enqueue(keyOf(one), 'low')
  })
}
