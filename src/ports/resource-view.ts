import type { KubeObject, ObjectKey } from './kube-object.ts'

/**
 * A live copy of the objects of one kind, kept by a watch. It goes on answering from memory while the API server is
 * away; it may be behind, never torn.
 */
export interface ResourceView<T extends KubeObject> {
  /** The first full list is in. Stays true from then on. */
  isSynced(): boolean
  whenSynced(signal: AbortSignal): Promise<void>
  get(key: ObjectKey): T | undefined
  all(): Iterable<T>
  /** Objects under one value of an index named when the view was made; in no promised order. */
  byIndex(index: string, value: string): readonly T[]
  /**
   * Tells each object that came (`before` undefined), changed, or went (`after` undefined), also what went or changed
   * while the watch was away. Listeners must only take note: a listener that throws is logged and passed over.
   * The answer ends the listening.
   */
  onChange(listener: (key: ObjectKey, before: T | undefined, after: T | undefined) => void): () => void
}
