import type { EngineRecord, RecordedEngine } from '../../ports/kubernetes.ts'
import type { IdFloor } from '../../ports/settings.ts'
import { ignoreNotFound } from '../client/api-errors.ts'
import { objectPath, type NamespacedName, type ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

export const CONFIG_MAPS: ResourceKind = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }
const FIELD_MANAGER = 'punctual-controller'

/** The data of the ConfigMap, which holds nothing but strings. */
interface RecordData {
  readonly installation: string
  /** The leader epoch, under the name it had when records were first written. */
  readonly term: string
  readonly idFloor: string
  /** JSON; the text `null` says that nothing was lost. */
  readonly loss: string
}

interface ConfigMap {
  readonly metadata: { readonly uid: string }
  readonly data?: Partial<RecordData>
}

/** Keeps the record in a ConfigMap of the controller's namespace, by server-side apply. */
export function createEngineRecord(transport: Transport, name: NamespacedName): EngineRecord {
  const path = objectPath(CONFIG_MAPS, name)
  return {
    read: async () => {
      const configMap = await ignoreNotFound(transport.request<ConfigMap>({ method: 'GET', path }))
      if (configMap === null) return null
      const recorded = recordIn(configMap.data ?? {})
      if (recorded !== 'unreadable') return recorded
      throw new Error(
        `ConfigMap ${name.name} in ${name.namespace} was edited by hand and cannot be read: correct or delete it`,
      )
    },
    write: async ({ installation, epoch, idFloor, loss }) => {
      const data: RecordData = {
        installation,
        term: String(epoch),
        idFloor: JSON.stringify(idFloor),
        loss: JSON.stringify(loss),
      }
      const { metadata } = await transport.request<ConfigMap>({
        method: 'PATCH',
        path,
        query: { fieldManager: FIELD_MANAGER, force: true },
        patchType: 'apply',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: name, data },
      })
      return { apiVersion: 'v1', kind: 'ConfigMap', ...name, uid: metadata.uid }
    },
  }
}

/** null = somebody emptied it, so that nothing is known. */
function recordIn(data: Partial<RecordData>): RecordedEngine | 'unreadable' | null {
  const { installation, term, idFloor, loss = 'null' } = data
  if (installation === undefined || term === undefined || idFloor === undefined) return null
  try {
    const recorded = {
      installation,
      epoch: Number(term),
      idFloor: JSON.parse(idFloor) as IdFloor | null,
      loss: JSON.parse(loss) as RecordedEngine['loss'],
    }
    return isRecorded(recorded) ? recorded : 'unreadable'
  } catch {
    return 'unreadable'
  }
}

/** The numbers decide which ids are assigned next, so a wrong one must not pass. */
function isRecorded(
  recorded: Omit<RecordedEngine, 'idFloor'> & { readonly idFloor: IdFloor | null },
): recorded is RecordedEngine {
  const { epoch, idFloor, loss } = recorded
  const numbers = [epoch, idFloor?.jobBlock, idFloor?.queue, idFloor?.token]
  return (
    numbers.every((number) => Number.isSafeInteger(number)) &&
    (loss === null || (typeof loss.reason === 'string' && typeof loss.at === 'string'))
  )
}
