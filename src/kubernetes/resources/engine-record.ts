import type { EngineRecord, RecordedEngine } from '../../ports/kubernetes.ts'
import type { IdFloor } from '../../ports/settings.ts'
import { isFault } from '../client/api-errors.ts'
import { objectPath, type ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

const CONFIG_MAPS: ResourceKind = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }
const FIELD_MANAGER = 'punctual-controller'

/** The data of the ConfigMap, which holds nothing but strings. */
interface RecordData {
  readonly installation: string
  /** The leader epoch, under the name it had when records were first written. */
  readonly term: string
  readonly idFloor: string
  /** JSON; 'null' while nothing was lost. */
  readonly loss: string
}

interface ConfigMap {
  readonly metadata: { readonly uid: string }
  readonly data?: Partial<RecordData>
}

/** A ConfigMap in the operator's own namespace. */
export function createEngineRecord(
  transport: Transport,
  place: { readonly namespace: string; readonly name: string },
): EngineRecord {
  const path = objectPath(CONFIG_MAPS, place)
  return {
    read: async () => {
      try {
        const { data } = await transport.request<ConfigMap>({ method: 'GET', path })
        const recorded = recordedIn(data ?? {})
        if (recorded !== 'unreadable') return recorded
        throw new Error(
          `ConfigMap ${place.name} in ${place.namespace} was changed by hand and cannot be read: mend it, or delete it`,
        )
      } catch (error) {
        if (isFault(error, 'not_found')) return null
        throw error
      }
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
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: place, data },
      })
      return { apiVersion: 'v1', kind: 'ConfigMap', ...place, uid: metadata.uid }
    },
  }
}

/** null for one that was emptied by hand: then nothing is known. */
function recordedIn(data: Partial<RecordData>): RecordedEngine | 'unreadable' | null {
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

/** The numbers decide which ids are given: a wrong one must not pass. */
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
