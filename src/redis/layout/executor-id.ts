/** Stands between an executor's name and what makes its id new; no pod's and no host's name holds it. */
const MARK = '~'

/** The id of one session of an executor. @param name the pod's or the host's @param nonce drawn anew for each session */
export function executorIdOf(name: string, nonce: string): string {
  return `${name.replaceAll(/[\s~]/g, '-')}${MARK}${nonce}`
}

/** The name in an executor's id; the whole id when it carries none. */
export function nameOfExecutor(executorId: string): string {
  const at = executorId.indexOf(MARK)
  return at === -1 ? executorId : executorId.slice(0, at)
}
