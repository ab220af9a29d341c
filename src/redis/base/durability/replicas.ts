import type { ServerFields } from '../installation/server-look.ts'

/** A replica answers each second. One whose last answer is older hangs, and would hold up all that is accepted. */
const LAG_SECONDS_MAX = 3

/** Replicas that a server sends its writes to, by its INFO; one that is still being filled does not count. */
export function onlineReplicas(info: ServerFields): number {
  return [...info].filter(([field, value]) => /^slave\d+$/.test(field) && isInStep(value)).length
}

function isInStep(replica: string): boolean {
  const [, lag = 'none'] = /,state=online,.*,lag=(\d+)/.exec(replica) ?? []
  return Number(lag) <= LAG_SECONDS_MAX
}
