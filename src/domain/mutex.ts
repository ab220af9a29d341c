/** Runs one piece of work at a time, in the order of the calls. */
export type Mutex = <T>(run: () => Promise<T>) => Promise<T>

/**
 * @param failsWaiters whether work that waits fails with the error of the work before it, instead of running; by
 *   default it always runs
 */
export function createMutex(failsWaiters: (error: unknown) => boolean = () => false): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (run) => {
    const current = last.then(run, (error: unknown) => {
      if (failsWaiters(error)) throw error
      return run()
    })
    last = current
    current.catch(() => {
      if (last === current) last = Promise.resolve()
    })
    return current
  }
}
