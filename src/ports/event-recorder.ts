import type { ObjectRef } from './kube-object.ts'

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
