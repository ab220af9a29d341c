import { StoreUnavailableError } from '../../domain/errors.ts'

/** Edits wait for each other, so that none is lost. */
export type EditTurns = <T>(run: () => Promise<T>) => Promise<T>

export function createEditTurns(): EditTurns {
  let lastEdit: Promise<unknown> = Promise.resolve()
  return (run) => {
    const current = lastEdit.then(run, (error: unknown) => {
      // Who waited while Redis did not answer has no time left to find that out again.
      if (error instanceof StoreUnavailableError) throw error
      return run()
    })
    lastEdit = current
    current.catch(() => {
      if (lastEdit === current) lastEdit = Promise.resolve()
    })
    return current
  }
}
