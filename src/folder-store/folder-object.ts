import { hash } from 'node:crypto'
import type { KubeObject } from '../ports/resource-store.ts'
import { API_VERSION, identityOf } from '../resources/resource.ts'
import type { Placed } from './folder-problem.ts'

/** A resource of the folder in the shape that an API server would give it. */
export interface FolderObject extends KubeObject {
  /** The spec with its defaults; absent in a Secret. */
  readonly spec?: unknown
}

export function objectOf(placed: Placed): FolderObject & { readonly spec: { readonly queueName?: string } } {
  const { madeAtMs, resource, checked, marks } = placed
  const { kind, team, name } = resource
  return {
    apiVersion: kind === 'Secret' ? 'v1' : API_VERSION,
    kind,
    metadata: {
      name,
      namespace: team,
      uid: uidOf(placed),
      resourceVersion: hash('sha256', JSON.stringify([marks, checked?.spec]), 'base64url'),
      creationTimestamp: new Date(madeAtMs).toISOString(),
      ...marks,
    },
    spec: checked?.spec ?? {},
  }
}

/** A file keeps its age when it is written again, and gets another when it is made anew. */
export function uidOf({ file, madeAtMs, resource }: Pick<Placed, 'file' | 'madeAtMs' | 'resource'>): string {
  return hash('sha256', `${identityOf(resource)} ${file} ${madeAtMs}`, 'base64url')
}
