import type { EngineFacts } from './settings.ts'

/** What Kubernetes writes about every object; fields we do not use are kept off. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  /** Opaque; equal only for the very same version. */
  readonly resourceVersion: string
  /** Rises with every change of the spec; absent for kinds without one. */
  readonly generation?: number
  /** RFC 3339, whole seconds. */
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  readonly finalizers?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** An object as the API server answers it, fields unknown to us included; frozen. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** Names one object of one life: after delete-and-recreate the `uid` is another. */
export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** `namespace/name`. */
export type ObjectKey = string

/**
 * A live copy of the objects of one kind, kept by a watch. It goes on answering from memory while the API server is
 * away; it may be behind, never torn.
 */
export interface Informer<T extends KubeObject> {
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

/** A new object as we ask for it. */
export interface NewObject {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: unknown
}

/**
 * Writes to objects of one kind. Every method throws ResourceApiError; nothing is half-written. A write to an object
 * whose `uid` is another by now is `not_found` or `conflict`, never a write to its successor; but see `applyStatus`.
 */
export interface ResourceWriter<T extends KubeObject> {
  /** Asks the API server itself, not the copy. null when there is none. */
  read(namespace: string, name: string): Promise<T | null>
  /** All objects of a namespace, asked of the API server itself; empty also where there is no such namespace. */
  readAll(namespace: string): Promise<readonly T[]>
  /** `conflict` when one of that name exists. */
  create(object: NewObject): Promise<T>
  /**
   * Changes some fields of `spec` by JSON merge patch, null removes one.
   * @param resourceVersion refused as `conflict` when it is another by now; null = whatever it is
   */
  patchSpec(
    target: ObjectRef,
    spec: Readonly<Record<string, unknown>>,
    resourceVersion: string | null,
  ): Promise<T>
  /**
   * Server-side apply of the whole status under our field manager. Kubernetes asks for no `uid` here: a successor of the
   * same name gets this status, the call is a `conflict`, and the successor's own turn puts it right.
   */
  applyStatus(target: ObjectRef, status: object): Promise<T>
  /** Adds or removes one finalizer of ours and leaves those of others; no write when it is so already. */
  setFinalizer(object: T, finalizer: string, present: boolean): Promise<T>
  /** Fine when it is gone already. */
  remove(target: ObjectRef): Promise<void>
}

/** Reads Secrets one by one; nothing is kept or watched. */
export interface SecretReader {
  /** The decoded values by key; null when there is no such Secret. Throws ResourceApiError. */
  read(namespace: string, name: string): Promise<Readonly<Record<string, Uint8Array>> | null>
}

/** What came of one turn. */
export interface ReconcileEnd {
  /** Look again after this long, besides any change; null = only a change. */
  readonly requeueAfterMs: number | null
}

/**
 * Brings what one key stands for to its desired state. Reads the newest copy itself; called again for as long as it
 * throws, with growing pauses; never twice at once for one key.
 */
export interface Reconciler {
  /** @param signal aborted when leadership ends: begin no further effect */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileEnd>
}

/**
 * Whether this process leads. True only while the lease cannot have passed to another, by this machine's monotonic
 * clock: ask again before every effect.
 */
export interface Leadership {
  isLeader(): boolean
  /** `lead` runs for each time of leading; its signal is aborted when that ends, and only then may it start anew. */
  onLead(lead: (signal: AbortSignal) => Promise<void>): void
}

export interface ResourceEvent {
  readonly regarding: ObjectRef
  readonly type: 'Normal' | 'Warning'
  /** CamelCase, unique to the situation, at most 128 characters: `SecretNotFound`. */
  readonly reason: string
  /** What we did or tried, CamelCase: `CompileSettings`. */
  readonly action: string
  /** A sentence for people; cut at 1 kB. Never a secret's value. */
  readonly note: string
}

/** Never throws and never waits: events are sent behind it, equal ones as one with a count, at most 1,000 waiting. */
export interface EventRecorder {
  record(event: ResourceEvent): void
}

/** What the operator knew of its engine last, kept outside it. */
export interface RecordedEngine extends EngineFacts {
  /** What was lost, and when it was found out (RFC 3339); null = nothing yet. */
  readonly loss: { readonly reason: string; readonly at: string } | null
}

/** Kept with the Kubernetes API, so that a wiped or restored Redis cannot take its own past with it. */
export interface EngineRecord {
  /** null = never written. Throws ResourceApiError. */
  read(): Promise<RecordedEngine | null>
  /** What events about the engine are tied to. Throws ResourceApiError. */
  write(engine: RecordedEngine): Promise<ObjectRef>
}

/** The executor pods as the API server knows them. */
export interface FleetState {
  /** The Deployment, for events about it. */
  readonly ref: ObjectRef
  /** As written in the Deployment's scale. */
  readonly desired: number
  /** Pods that exist and are not on their way out. */
  readonly current: number
  readonly ready: number
  /** Someone else scales the Deployment: kind and name of an HPA or a ScaledObject; null = nobody. */
  readonly otherScaler: string | null
}

/** The Deployment of executors. Throws ResourceApiError. */
export interface ExecutorFleet {
  /** null when the Deployment does not exist. */
  read(): Promise<FleetState | null>
  scaleTo(replicas: number): Promise<void>
  /**
   * Marks what each pod holds, so that idle ones go first when the Deployment shrinks
   * (`controller.kubernetes.io/pod-deletion-cost`); writes only what has changed.
   * @param held calls in flight by pod name; pods not named hold nothing
   * @param signal gives the rest up
   */
  setDeletionCosts(held: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void>
}
