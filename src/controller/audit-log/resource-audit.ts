import type { AuditedResource, AuditEntry } from '../../domain/access/audit-record.ts'
import { auditedChange } from '../../domain/access/audited-fields.ts'
import { reasonOf } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { Informer } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { OWN_MANAGERS } from '../kinds.ts'

/**
 * At most this many changes may wait to be written. When more come at once, for example because a thousand manifests
 * are applied, the rest is only counted.
 */
const PENDING_MAX = 1_000
const PUMP_EVERY_MS = 1_000
/**
 * A deletion does not say who asked for it. If the API did, its own entry has been written by then: the API waits for
 * the controller for 2 s at most.
 */
const DELETION_WAIT_MS = 15_000
/** The API's entry is sought this far back, because a finalizer may hold a resource for five minutes. */
const DELETION_LOOK_BACK_MS = 600_000

export interface AuditedObject extends KubeObject {
  readonly spec: object
}

interface Pending {
  readonly team: string
  readonly entry: AuditEntry
  /** When the deletion is to be written, by the monotonic clock. */
  readonly dueMs: number
}

export interface AuditedKind {
  readonly kind: AuditedResource['kind']
  readonly changes: Pick<Informer<AuditedObject>, 'isSynced' | 'onChange'>
  /** Answers the name by which the API speaks of the object. */
  readonly nameOf: (object: AuditedObject) => string
}

export interface ResourceAuditParts {
  readonly kinds: readonly AuditedKind[]
  readonly isWatched: (namespace: string) => boolean
  readonly auditLog: AuditLog
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Writes to the audit log what others than the API change in resources: `kubectl`, Argo CD, Helm. Kubernetes tells no
 * controller which user that was, so the actor is the field manager. Changes while no controller leads, and those
 * beyond PENDING_MAX at once, are in the audit log of Kubernetes alone.
 */
export class ResourceAudit {
  readonly #parts: ResourceAuditParts
  #pending: Pending[] = []
  #dropped = 0

  constructor(parts: ResourceAuditParts) {
    this.#parts = parts
  }

  /** Watches and writes until the signal. What has not been written by then is dropped. */
  async run(signal: AbortSignal): Promise<void> {
    const { kinds, isWatched, clock } = this.#parts
    const unsubscribe = kinds.map((audited) =>
      audited.changes.onChange((_key, before, after) => {
        const { namespace } = (after ?? before)?.metadata ?? {}
        // The first list tells of objects that were there before, so it is no change.
        if (namespace !== undefined && audited.changes.isSynced() && isWatched(namespace)) {
          this.#note(audited, before, after)
        }
      }),
    )
    while (!signal.aborted) {
      await this.#pump(signal)
      await pause(clock, PUMP_EVERY_MS, signal)
    }
    for (const end of unsubscribe) end()
    this.#pending = []
  }

  #note(
    { kind, nameOf }: AuditedKind,
    before: AuditedObject | undefined,
    after: AuditedObject | undefined,
  ): void {
    const object = after ?? before
    if (object === undefined) return
    const manager = after?.metadata.specManager ?? null
    if (manager !== null && OWN_MANAGERS.has(manager)) return
    const change = auditedChange(fieldsOf(before), fieldsOf(after))
    if (before !== undefined && after !== undefined && Object.keys(change.after ?? {}).length === 0) return
    if (this.#pending.length >= PENDING_MAX) {
      this.#dropped += 1
      return
    }
    const { namespace: team } = object.metadata
    const isDeletion = after === undefined
    this.#pending.push({
      team,
      dueMs: this.#parts.clock.monotonicMs() + (isDeletion ? DELETION_WAIT_MS : 0),
      entry: {
        actor: { kind: 'user', name: manager ?? 'unknown', via: 'kubectl', address: null },
        action: before === undefined ? 'create' : isDeletion ? 'delete' : 'edit',
        resource: { kind, id: null, name: nameOf(object) },
        ...change,
      },
    })
  }

  async #pump(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts
    const nowMs = clock.monotonicMs()
    const due = this.#pending.filter(({ dueMs }) => dueMs <= nowMs)
    for (const pending of due) {
      if (signal.aborted) return
      try {
        await this.#write(pending)
      } catch (error) {
        // Redis is away, so the rest is tried in the next turn.
        logger.debug('The audit log cannot be written', { reason: reasonOf(error) })
        break
      }
      this.#pending = this.#pending.filter((each) => each !== pending)
    }
    if (this.#dropped > 0) {
      logger.warn('Changes of resources are missing from the audit log: too many at once', {
        count: this.#dropped,
      })
      this.#dropped = 0
    }
  }

  async #write({ team, entry }: Pending): Promise<void> {
    const { auditLog } = this.#parts
    if (entry.action === 'delete' && (await this.#isKnownDeletion(team, entry.resource))) return
    const ticket = await auditLog.ask(team, entry)
    await auditLog.settle(team, ticket, { entry, outcome: 'done' })
  }

  async #isKnownDeletion(team: string, { kind, name }: AuditedResource): Promise<boolean> {
    const page = await this.#parts.auditLog.list({
      team,
      limit: 1,
      cursor: null,
      filter: {
        actor: null,
        action: 'delete',
        resourceKind: kind,
        resource: name,
        afterMs: this.#parts.clock.wallMs() - DELETION_LOOK_BACK_MS,
        beforeMs: null,
      },
    })
    return page !== 'bad_cursor' && page.records.length > 0
  }
}

function fieldsOf(object: AuditedObject | undefined): Readonly<Record<string, unknown>> | null {
  return object === undefined ? null : { ...object.spec }
}
