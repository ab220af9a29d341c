import { ResourceApiError } from '../../domain/errors.ts'

/** Ignores that the object was deleted in the meantime, as the informer reports the deletion soon. */
export async function ignoreNotFound(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!(error instanceof ResourceApiError) || error.fault !== 'not_found') throw error
  }
}
