/**
 * Who keeps a resource as a manifest elsewhere, and may overwrite what is changed here. Argo CD, Flux and Helm say so by
 * labels and annotations, others only by the name under which they apply it.
 */
export interface ManagedBy {
  readonly tool: 'argo_cd' | 'flux' | 'helm' | 'kubectl' | 'other'
  /** The application, kustomization or release; of `kubectl` and others the field manager. */
  readonly name: string
  /** Whether edits by the API are refused. */
  readonly isReadOnly: boolean
}

/** Whether the API may edit resources that somebody has applied. */
export const APPLIED_RESOURCES = ['editable', 'read-only'] as const
export type AppliedResources = (typeof APPLIED_RESOURCES)[number]

const TOOLS = { argo_cd: 'Argo CD', flux: 'Flux', helm: 'Helm' } as const

/** `Argo CD (shop)`, `kubectl apply`. */
export function managerText({ tool, name }: Pick<ManagedBy, 'tool' | 'name'>): string {
  if (tool === 'kubectl') return 'kubectl apply'
  return tool === 'other' ? name : `${TOOLS[tool]} (${name})`
}

/** Warns that a manifest kept elsewhere will undo or overwrite the edit; empty if nobody keeps one. */
export function editWarning(by: ManagedBy | null): string[] {
  if (by === null) return []
  return [
    `${managerText(by)} keeps this as a manifest: the next time it is applied this edit is undone or, where the manifest leaves the field out, stays and shows in no diff. Make it in the manifest too.`,
  ]
}
