import type { KubeObject, ObjectMeta } from '../../ports/resource-store.ts'
import type { ResourceKind } from './resource-path.ts'

/** A second copy of the manifest, written by `kubectl apply`. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Prepares an object of the API server for keeping. Drops `managedFields`, except who wrote and who applied the spec
 * last, and the copy that `kubectl apply` keeps, which are often longer than all the rest; adds the kind, which lists
 * of built-in objects leave out; and freezes it. 10,000 queues take 14 MiB in this form and 37 MiB with
 * `managedFields`. Freezing them deeply rather than at the top takes 50 ms and 1 MiB.
 * @param transform leaves out more
 */
export function received(
  json: unknown,
  { apiVersion, kind }: ResourceKind,
  transform: (object: KubeObject) => KubeObject = (object) => object,
): KubeObject {
  const { metadata, ...rest } = json as KubeObject & {
    metadata: { managedFields?: readonly ManagedFields[] }
  }
  const { managedFields, annotations, ...kept } = metadata
  return deepFreeze(
    transform({
      ...rest,
      apiVersion,
      kind,
      metadata: { ...kept, ...withoutCopy(annotations), ...writersOf(managedFields) },
    }),
  )
}

/** An entry of `metadata.managedFields`. */
interface ManagedFields {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
  /** RFC 3339 in whole seconds. */
  readonly time?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
}

/** The manager of a client-side `kubectl apply`, which the API server records as an `Update`, not an `Apply`. */
const CLIENT_SIDE_APPLY = 'kubectl-client-side-apply'

function writersOf(
  managedFields: readonly ManagedFields[] | undefined,
): Pick<ObjectMeta, 'specManager' | 'specApplier'> {
  const ofSpec = (managedFields ?? []).filter(
    ({ subresource, fieldsV1 }) => (subresource ?? '') === '' && fieldsV1?.['f:spec'] !== undefined,
  )
  const manager = newestOf(ofSpec)
  const applier = newestOf(
    ofSpec.filter((entry) => entry.operation === 'Apply' || entry.manager === CLIENT_SIDE_APPLY),
  )
  return {
    ...(manager === undefined ? {} : { specManager: manager }),
    ...(applier === undefined ? {} : { specApplier: applier }),
  }
}

function newestOf(entries: readonly ManagedFields[]): string | undefined {
  let newest: ManagedFields | undefined
  for (const entry of entries) {
    if (newest === undefined || (entry.time ?? '') >= (newest.time ?? '')) newest = entry
  }
  return newest?.manager
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
