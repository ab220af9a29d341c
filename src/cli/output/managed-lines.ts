import type { ManagedBy } from '../../../clients/typescript/src/client.ts'
import { managerText } from '../../domain/managed-by.ts'

/** Who keeps the resource as a manifest, of what has one. */
export function managedLines(by: ManagedBy | undefined): readonly string[] {
  // An API of an earlier version does not say.
  if (by === null || by === undefined) return []
  return [`managed by ${managerText(by)}${by.read_only ? ', read-only here: change its manifest' : ''}`]
}
