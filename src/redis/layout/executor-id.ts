/** Separates an executor's name from the nonce in its id; names of pods and hosts never contain it. */
const MARK = '~'

/** The id of one executor session. @param name of the pod or host @param nonce random, new for each session */
export function executorIdOf(name: string, nonce: string): string {
  return `${name.replaceAll(/[\s~]/g, '-')}${MARK}${nonce}`
}

/** The name in an executor's id; the whole id if it has none. */
export function nameOfExecutor(executorId: string): string {
  const at = executorId.indexOf(MARK)
  return at === -1 ? executorId : executorId.slice(0, at)
}
