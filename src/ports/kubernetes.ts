import type { KubeObject, ObjectRef, ResourceStore } from './resource-store.ts'
import type { EngineFacts, OwnAddressesOf } from './settings.ts'
import type { SecretMarks } from '../domain/secrets/secret-use.ts'

/** `namespace/name`. */
export type ObjectKey = string

/**
 * A live copy of the objects of one kind, kept up to date by watches. It may lag but is always consistent, and keeps
 * answering while the API server is unavailable.
 */
export interface Informer<T extends KubeObject> {
  /** Whether the first full list is in; stays true from then on. */
  isSynced(): boolean
  whenSynced(signal: AbortSignal): Promise<void>
  get(key: ObjectKey): T | undefined
  all(): Iterable<T>
  /** The objects under one value of an index, in no particular order. */
  byIndex(index: string, value: string): readonly T[]
  /**
   * Calls the listener for each object that is created (`before` undefined), updated or deleted (`after` undefined), even
   * if it happened while the watch was down. Listeners must be quick; one that throws is logged.
   * @returns unsubscribes
   */
  onChange(listener: (key: ObjectKey, before: T | undefined, after: T | undefined) => void): () => void
}

/** A store whose kinds have a status and finalizers: that of the API server. */
export interface ResourceWriter<T extends KubeObject> extends ResourceStore<T> {
  /**
   * Server-side apply of the whole status under our field manager. Kubernetes does not check the `uid` here: a recreated
   * object gets this status, the call is a `conflict`, and the new object's own reconcile corrects it.
   */
  applyStatus(target: ObjectRef, status: object): Promise<T>
  /** Adds or removes one finalizer and keeps the others; writes only if that changes something. */
  setFinalizer(object: T, finalizer: string, present: boolean): Promise<T>
}

/** Reads single Secrets; keeps and watches none. */
export interface ReadSecret extends SecretMarks {
  /** The decoded values by key. */
  readonly data: Readonly<Record<string, Uint8Array>>
}

export interface SecretReader {
  /** null when the Secret does not exist. Throws ResourceApiError. */
  read(namespace: string, name: string): Promise<ReadSecret | null>
}

export interface ReconcileEnd {
  /** Reconcile again after this time even without a change; null = only after a change. */
  readonly requeueAfterMs: number | null
}

/**
 * Brings one key to its desired state. Reads the newest objects itself. It is retried with backoff when it throws, and is
 * never called concurrently for one key.
 */
export interface Reconciler {
  /** @param signal aborts when this process stops leading: start no further write */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileEnd>
}

/** Whether this process leads. */
export interface Leadership {
  /** True only while no other process can have taken over the Lease, by the monotonic clock: check before every write. */
  isLeader(): boolean
  /** Calls `lead` in every leader epoch; its signal aborts when the epoch ends. The next epoch waits for its end. */
  onLead(lead: (signal: AbortSignal) => Promise<void>): void
}

export interface ResourceEvent {
  readonly regarding: ObjectRef
  readonly type: 'Normal' | 'Warning'
  /** Why, in CamelCase, at most 128 characters: `SecretNotFound`. */
  readonly reason: string
  /** The action we took or tried, in CamelCase: `CompileSettings`. */
  readonly action: string
  /** A sentence for people, cut at 1 KiB. Never a secret's value. */
  readonly note: string
}

/** Never throws or waits. Events are sent in the background, equal ones as a series; at most 1,000 wait. */
export interface EventRecorder {
  record(event: ResourceEvent): void
}

/** The engine as the controller last knew it. */
export interface RecordedEngine extends EngineFacts {
  /** Reason of a loss, and when it was noticed (RFC 3339); null = nothing was lost. */
  readonly loss: { readonly reason: string; readonly at: string } | null
}

/** Kept in the Kubernetes API, so that it survives a wiped or restored Redis. */
export interface EngineRecord {
  /** null when it was never written. Throws ResourceApiError. */
  read(): Promise<RecordedEngine | null>
  /** @returns the object that Events about the engine refer to. Throws ResourceApiError. */
  write(engine: RecordedEngine): Promise<ObjectRef>
}

/** Finds the namespace that has a name now. Throws ResourceApiError. */
export interface NamespaceReader {
  /** `unreadable`: we may not know. */
  read(
    name: string,
  ): Promise<{ readonly kind: 'found'; readonly uid: string } | { readonly kind: 'missing' | 'unreadable' }>
}

/** Finds what jobs may not call. Throws ResourceApiError. */
export interface OwnAddressReader {
  /** Answers in the order of the API server. */
  read(of: OwnAddressesOf): Promise<readonly string[]>
}

export interface FleetState {
  /** The Deployment, for Events about it. */
  readonly ref: ObjectRef
  /** `spec.replicas`. */
  readonly desired: number
  /** Pods that are not terminating. */
  readonly current: number
  readonly ready: number
  /** Kind and name of an HPA or ScaledObject that scales the Deployment too; null = none. */
  readonly otherScaler: string | null
}

/** The Deployment of executors. Throws ResourceApiError. */
export interface ExecutorFleet {
  /** null when the Deployment does not exist. */
  read(): Promise<FleetState | null>
  scaleTo(replicas: number): Promise<void>
  /**
   * Annotates pods with `controller.kubernetes.io/pod-deletion-cost`, so that a shrinking Deployment loses idle pods first.
   * Writes only changes.
   * @param held calls in flight by pod name, 0 for pods not named
   * @param signal cancels the remaining writes
   */
  setDeletionCosts(held: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void>
}
