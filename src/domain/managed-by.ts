/**
 * Who keeps a resource as a manifest elsewhere, and may overwrite what is changed here. Argo CD, Flux and Helm say so by
 * labels and annotations, others only by the name under which they apply it.
 */
export interface ManagedBy {
  readonly tool: 'argo_cd' | 'flux' | 'helm' | 'kubectl' | 'other'
  /** The application, kustomization or release; of `kubectl` and others the field manager. */
  readonly name: string
}
