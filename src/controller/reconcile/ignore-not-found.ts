import { ResourceApiError } from '../../domain/errors.ts'

/** A write to what was deleted meanwhile is no fault: the view tells of it soon. */
export async function ignoreNotFound(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof ResourceApiError) || error.fault !== 'not_found') throw error
  }
}
