import type { EngineRecord, RecordedEngine } from '../ports/engine-record.ts'
import type { IdFloor } from '../ports/settings-compiler.ts'
import { isFault } from './api-errors.ts'
import { objectPath, type ResourceKind } from './resource-path.ts'
import type { Transport } from './transport.ts'

const CONFIG_MAPS: ResourceKind = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }
const FIELD_MANAGER = 'punctual-controller'

/** What stands in the ConfigMap; texts, for it takes nothing else. */
interface RecordData {
  readonly installation: string
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
        return recordedIn(data ?? {})
      } catch (error) {
        if (isFault(error, 'not_found')) return null
        throw error
      }
    },
    write: async ({ installation, term, idFloor, loss }) => {
      const data: RecordData = {
        installation,
        term: String(term),
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
function recordedIn({ installation, term, idFloor, loss }: Partial<RecordData>): RecordedEngine | null {
  if (installation === undefined || term === undefined || idFloor === undefined) return null
  return {
    installation,
    term: Number(term),
    idFloor: JSON.parse(idFloor) as IdFloor,
    loss: JSON.parse(loss ?? 'null') as RecordedEngine['loss'],
  }
}
