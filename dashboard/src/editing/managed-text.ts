import type { ManagedBy } from '../../../clients/typescript/src/client.ts'

type Manager = NonNullable<ManagedBy>

const TOOLS = { argo_cd: 'Argo CD', flux: 'Flux', helm: 'Helm' } as const

/** Such as `Argo CD (shop)` and `kubectl apply`. */
export function managerText({ tool, name }: Manager): string {
  if (tool === 'kubectl') return 'kubectl apply'
  return tool === 'other' ? name : `${TOOLS[tool]} (${name})`
}

/** Why settings are not to be edited here; null = they may, until somebody applies the manifest again. */
export function whyNoEdit(by: ManagedBy): string | null {
  if (by === null || (by.tool === 'kubectl' && !by.read_only)) return null
  const where = {
    helm: 'the values of its release',
    other: 'its manifest',
    kubectl: 'its manifest',
    argo_cd: 'its manifest in Git',
    flux: 'its manifest in Git',
  }[by.tool]
  return `${managerText(by)} manages it and would undo an edit: change ${where}.`
}
