import { createHash } from 'node:crypto'
import type { SecretPlace } from '../../domain/access/signing-secret.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { specOfSigningRefs } from '../secret-refs.ts'
import { editSpec, newManifest } from './manifest-text.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN } from '../queue-owner.ts'
import { newQueueSpec, specOfSettings } from '../queue-spec.ts'
import { slugOf } from './slug.ts'

const HASH_CHARACTERS = 8

/** `metadata.name` of a pushed queue: a DNS-safe slug and 8 hex digits, so that no two names collide. */
export function nameOfPushedQueue(queueName: string): string {
  const hash = createHash('sha256').update(queueName, 'utf8').digest('hex').slice(0, HASH_CHARACTERS)
  return `${slugOf(queueName) || 'queue'}-${hash}`
}

/** The HttpQueue of a pushed queue. Its name derives from the queue's, so that it is created once. */
export function pushedQueueResource(
  { team, name }: { readonly team: string; readonly name: string },
  settings: QueueSettings,
) {
  return {
    metadata: {
      name: nameOfPushedQueue(name),
      namespace: team,
      labels: { [ORIGIN_LABEL]: PUSH_ORIGIN },
    },
    spec: newQueueSpec(name, settings),
  }
}

/**
 * A manifest of one queue, without default settings.
 * @param place.namespace null = the team of the folder
 * @param signing where its own signing secrets lie, newest first
 */
export function newQueueManifest(
  place: { readonly name: string; readonly namespace: string | null },
  queue: { readonly name: string; readonly settings: QueueSettings },
  signing: readonly SecretPlace[] = [],
): string {
  const spec = { ...newQueueSpec(queue.name, queue.settings), ...specOfSigningRefs(signing) }
  return newManifest('HttpQueue', place, spec)
}

/** Changes settings of one queue, as `editSpec` does. */
export function editQueueManifest(
  text: string,
  document: number,
  change: Partial<QueueSettings>,
): string | null {
  return editSpec(text, document, specOfSettings(change))
}
