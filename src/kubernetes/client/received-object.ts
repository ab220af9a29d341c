import type { KubeObject, ObjectMeta } from '../../ports/kubernetes.ts'
import type { ResourceKind } from './resource-path.ts'

/** The whole manifest once more as text, put there by `kubectl apply`. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * An object as it came, made ready to be kept: without `managedFields` and what kubectl applied last, which are often
 * longer than all the rest, with the kind that lists of built-in objects leave out, and frozen. 10,000 queues are
 * 14 MiB so, and 37 MiB with `managedFields`; to freeze them to their depth, not at the top alone, takes 50 ms and
 * 1 MiB.
 * @param lean leaves out more
 */
export function received(
  json: unknown,
  { apiVersion, kind }: ResourceKind,
  lean: (object: KubeObject) => KubeObject = (object) => object,
): KubeObject {
  const { metadata, ...rest } = json as KubeObject & { metadata: { managedFields?: unknown } }
  const { managedFields: _bulk, annotations, ...kept } = metadata
  return deepFreeze(lean({ ...rest, apiVersion, kind, metadata: { ...kept, ...withoutCopy(annotations) } }))
}

function withoutCopy(annotations: ObjectMeta['annotations']): Pick<ObjectMeta, 'annotations'> {
  if (annotations === undefined) return {}
  const { [LAST_APPLIED]: _copy, ...others } = annotations
  return { annotations: others }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const name in value) deepFreeze(value[name])
  return Object.freeze(value)
}
