import type { ObjectRef } from './kube-object.ts'
import type { EngineFacts } from './settings-compiler.ts'

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
