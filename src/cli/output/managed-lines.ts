import type { ManagedBy } from '../../../clients/typescript/src/client.ts'
import { managerText } from '../../domain/managed-by.ts'

/** Tells who keeps the manifest of a resource. */
export function managedLines(by: ManagedBy): readonly string[] {
  if (by === null) return []
  return [`managed by ${managerText(by)}${by.read_only ? ', read-only here: change its manifest' : ''}`]
}
