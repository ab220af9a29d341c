import type { ResourceEvent } from '../../ports/kubernetes.ts'
import { microTime } from '../client/micro-time.ts'

/** Who reports an Event. */
export interface EventSource {
  /** A qualified name: `punctual.dev/controller`. */
  readonly controller: string
  /** The name of the pod. */
  readonly instance: string
}

/** Times are by the wall clock. */
export interface EventTimes {
  readonly count: number
  readonly firstMs: number
  readonly lastMs: number
}

const NOTE_BYTES_MAX = 1_024
/** The most that Kubernetes allows in any name. */
const NAME_CHARACTERS_MAX = 253

/** An Event of events.k8s.io/v1. */
export function eventBody(
  { name, event, ...times }: EventTimes & { readonly name: string; readonly event: ResourceEvent },
  source: EventSource,
): Readonly<Record<string, unknown>> {
  const { regarding, type, reason, action, note } = event
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: regarding.namespace, name },
    eventTime: microTime(times.firstMs),
    reportingController: source.controller,
    reportingInstance: source.instance,
    type,
    reason,
    action,
    regarding,
    note: cutBytes(note, NOTE_BYTES_MAX),
    ...(times.count > 1 ? seriesBody(times) : {}),
  }
}

/** The only part of an Event that may change. The API server rejects a series with a count below two. */
export function seriesBody({ count, lastMs }: EventTimes): Readonly<Record<string, unknown>> {
  return { series: { count, lastObservedTime: microTime(lastMs) } }
}

/**
 * Events with the same key form a series. Only the first note of a series is ever shown, for the API server lets nothing
 * but the count change, so an event with another note must begin another series.
 */
export function seriesKey({ regarding, type, reason, action, note }: ResourceEvent): string {
  const { apiVersion, kind, namespace, name, uid } = regarding
  return JSON.stringify([type, action, reason, apiVersion, kind, namespace, name, uid, note])
}

/** @param id unique, of lower-case letters and digits */
export function eventName({ regarding }: ResourceEvent, id: string): string {
  const prefix = regarding.name.slice(0, NAME_CHARACTERS_MAX - id.length - 1).replace(/[.-]+$/, '')
  return `${prefix}.${id}`
}

function cutBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  const kept = bytes.subarray(0, bytesMax - Buffer.byteLength('…'))
  // A streaming decoder holds back a character that is cut in the middle.
  return `${new TextDecoder().decode(kept, { stream: true })}…`
}
