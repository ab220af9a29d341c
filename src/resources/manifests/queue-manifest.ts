import { createHash } from 'node:crypto'
import type { SecretKeyRef } from '../../domain/access/signing-secret.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { specOfSigningRefs } from '../secret-refs.ts'
import { newManifest } from './manifest-text.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN } from '../queue-owner.ts'
import { newQueueSpec } from '../queue-spec.ts'
import { slugOf } from './slug.ts'

const HASH_CHARACTERS = 8

/** Makes the `metadata.name` of a pushed queue: a DNS-safe slug and 8 hex digits, so that no two names collide. */
export function nameOfPushedQueue(queueName: string): string {
  const hash = createHash('sha256').update(queueName, 'utf8').digest('hex').slice(0, HASH_CHARACTERS)
  return `${slugOf(queueName) || 'queue'}-${hash}`
}

/** Makes the HttpQueue of a pushed queue. Its name derives from the queue's, so that it is created once. */
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
 * Writes the manifest of one queue, without default settings.
 * @param metadata.namespace null = the team of the folder
 * @param signing names the queue's own signing secrets, newest first
 */
export function newQueueManifest(
  metadata: { readonly name: string; readonly namespace: string | null },
  queue: { readonly name: string; readonly settings: QueueSettings },
  signing: readonly SecretKeyRef[] = [],
): string {
  const spec = { ...newQueueSpec(queue.name, queue.settings), ...specOfSigningRefs(signing) }
  return newManifest('HttpQueue', metadata, spec)
}
