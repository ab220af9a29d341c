/** An API server of one namespace, with locks, for editors that keep a Secret beside the settings of a team. */
import { ResourceApiError } from '../../../src/domain/errors.ts'
import type { KubeObject, NewObject } from '../../../src/ports/resource-store.ts'

export type Stored = KubeObject & {
  readonly spec: Record<string, unknown>
  readonly stringData?: Readonly<Record<string, string>>
}

export interface Faults {
  /** Thrown by the next writes of settings, one each. */
  readonly patches?: Error[]
  /** Thrown by every use of a Secret. */
  readonly secrets?: Error
}

export const CREATED = '2026-11-21T10:00:00Z'
export const conflict = () => new ResourceApiError('conflict', 'changed')

export function createSettingsCluster(faults: Faults = {}) {
  const objects = new Map<string, Stored>()
  /** What was written, in order, such as `create Secret`. */
  const log: string[] = []
  let version = 0
  const put = (kind: string, object: NewObject): Stored => {
    const { name } = object.metadata
    const stored = {
      ...object,
      apiVersion: 'v1',
      kind,
      metadata: {
        ...object.metadata,
        uid: `uid-${name}`,
        creationTimestamp: CREATED,
        resourceVersion: String((version += 1)),
      },
      spec: (object.spec ?? {}) as Stored['spec'],
    }
    objects.set(`${kind}/${name}`, stored)
    return stored
  }
  const guard = (kind: string): void => {
    if (kind === 'Secret' && faults.secrets !== undefined) throw faults.secrets
  }
  const storeOf = (kind: string) => ({
    read: async (_namespace: string, name: string) => {
      guard(kind)
      return objects.get(`${kind}/${name}`) ?? null
    },
    create: async (object: NewObject) => {
      guard(kind)
      if (objects.has(`${kind}/${object.metadata.name}`)) throw new ResourceApiError('conflict', 'exists')
      log.push(`create ${kind}`)
      return put(kind, object)
    },
    patchSpec: async ({ name }: { name: string }, spec: object, resourceVersion: string | null) => {
      const found = objects.get(`${kind}/${name}`)
      const fault = faults.patches?.shift()
      if (fault !== undefined) throw fault
      if (found?.metadata.resourceVersion !== resourceVersion) throw conflict()
      log.push(`patch ${kind}`)
      return put(kind, { ...found, spec: { ...found.spec, ...spec } })
    },
    remove: async ({ name }: { name: string }) => {
      log.push(`remove ${kind}`)
      objects.delete(`${kind}/${name}`)
    },
  })
  return {
    stores: { settings: storeOf('TeamSettings'), secrets: storeOf('Secret') },
    put,
    log,
    /** Writes the settings of the team as somebody else does. */
    settings: (spec: object, metadata: object = {}) =>
      put('TeamSettings', { metadata: { name: 'team', namespace: 'shop', ...metadata }, spec }),
    spec: () => objects.get('TeamSettings/team')?.spec,
    /** The Secrets that are there, with what they hold. */
    secrets: () =>
      [...objects].flatMap(([key, { stringData }]) =>
        key.startsWith('Secret/') ? [[key.slice('Secret/'.length), stringData] as const] : [],
      ),
  }
}

/** Of both editors. */
export const WHERE = {
  isWatched: (namespace: string) => namespace === 'shop',
  isReadOnly: () => true,
}
