/** Separates the parts of an executor's id; names of pods and hosts never contain it. */
const MARK = '~'

/**
 * The id of one executor session: all that its lease says of it. An id of an earlier version says no slots.
 *
 * @param name of the pod or host
 * @param session its nonce is random, new for each session; `slots` is how many calls it may make at once
 */
export function executorIdOf(
  name: string,
  { nonce, slots }: { readonly nonce: string; readonly slots: number },
): string {
  return [name.replaceAll(/[\s~]/g, '-'), nonce, slots].join(MARK)
}

/** The name in an executor's id; the whole id if it has none. */
export function nameOfExecutor(executorId: string): string {
  const at = executorId.indexOf(MARK)
  return at === -1 ? executorId : executorId.slice(0, at)
}

/** How many calls the executor may make at once; null = its id does not say. */
export function slotsOfExecutor(executorId: string): number | null {
  const [, , slots = ''] = executorId.split(MARK)
  return /^[1-9]\d{0,8}$/.test(slots) ? Number(slots) : null
}
