import { reasonOf, StorageFullError, StoreUnavailableError } from '../../../domain/errors.ts'

/** Error replies of a Redis that may answer later. */
const PASSING_REPLIES = [
  'LOADING',
  'READONLY',
  'BUSY ',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'NOREPLICAS',
  'MISCONF',
  'UNBLOCKED',
]

const CONNECTION_LOST = 'Reached the max retries'

/** Messages of ioredis when the connection is down, breaks or stays silent. */
const CONNECTION_FAULTS = [
  'Connection is closed',
  "Stream isn't writeable",
  'Command timed out',
  CONNECTION_LOST,
  'Failed to refresh slots cache',
  'Cluster isn',
  'Socket closed unexpectedly',
  'None of startup nodes is available',
  // A slot is being migrated: some of a step's keys are here, some there.
  'Too many Cluster redirections',
]
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** Turns what ioredis throws into a fault of the catalogue; anything else is a defect of ours and stays as it is. */
export function asStoreFault(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { message } = error
  if (message.startsWith('OOM')) return new StorageFullError({ cause: error })
  const code = (error as NodeJS.ErrnoException).code
  const isPassing =
    PASSING_REPLIES.some((prefix) => message.startsWith(prefix)) ||
    CONNECTION_FAULTS.some((part) => message.includes(part)) ||
    (code !== undefined && CONNECTION_CODES.has(code))
  // The client speaks of its own options then.
  const reason = message.startsWith(CONNECTION_LOST) ? 'The connection was lost.' : message
  return isPassing ? new StoreUnavailableError(`Redis is not available: ${reason}`, { cause: error }) : error
}

/** Whether Redis has refused a command because its user has no right to it: waiting does not help. */
export function lacksRight(error: unknown): boolean {
  return reasonOf(error).startsWith('NOPERM')
}

/**
 * The id of a name. A full Redis refuses the step that assigns one, but a name that has an id must still be found, so
 * that its queue or cron can be paused, edited or deleted.
 */
export async function orWhenFull(
  reserved: Promise<unknown>,
  find: () => Promise<string | null>,
): Promise<unknown> {
  try {
    return await reserved
  } catch (error) {
    const known = error instanceof StorageFullError ? await find() : null
    if (known === null) throw error
    return known
  }
}
