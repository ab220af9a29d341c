import { createHash } from 'node:crypto'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { editSpec, newManifest } from './manifest-text.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN } from '../queue-owner.ts'
import { newQueueSpec, specOfSettings } from '../queue-spec.ts'
import { slugOf } from './slug.ts'

const HASH_CHARACTERS = 8

/** `metadata.name` of a queue made by a push: a DNS-safe slug and 8 hex digits, so that no two names meet. */
export function nameOfPushedQueue(queueName: string): string {
  const hash = createHash('sha256').update(queueName, 'utf8').digest('hex').slice(0, HASH_CHARACTERS)
  return `${slugOf(queueName) || 'queue'}-${hash}`
}

/** The HttpQueue of a queue that a push has made. Its name follows from the queue's, so that it is not made twice. */
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
 * A manifest of one queue. Settings that are the defaults are left out.
 * @param namespace null = the folder's own team
 */
export function newQueueManifest(
  queueName: string,
  namespace: string | null,
  settings: QueueSettings,
): string {
  const spec = newQueueSpec(queueName, settings)
  return newManifest('HttpQueue', { name: nameOfPushedQueue(queueName), namespace }, spec)
}

/**
 * The file's text with some settings of one queue changed; comments and everything else stay.
 * @param document its place in the file, from 1
 * @returns null when the file is written in a way that cannot be changed in place (an alias, say)
 */
export function editQueueManifest(
  text: string,
  document: number,
  change: Partial<QueueSettings>,
): string | null {
  return editSpec(text, document, specOfSettings(change))
}
