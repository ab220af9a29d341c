import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import { pause } from '../../domain/pause.ts'
import { identityOf } from '../process-identity.ts'
import type { ProcessIdentity } from '../process-identity.ts'
import { nameOf, urlOf } from './redis-config.ts'
import type { RedisAddress } from './redis-config.ts'
import { probeRedis } from './redis-probe.ts'
import { adoptProcess } from './redis-process.ts'

const PROBE_TIMEOUT_MS = 2_000
const SILENCE_MS_MAX = 10_000
const RETRY_MS = 100

/**
 * Finds the Redis that a killed process of ours has left running on this folder; null when there is none. One that
 * cannot be reached, because its socket file is gone, is terminated: two servers on one folder would corrupt the data.
 * @throws StartupError when it runs and does not answer, or another server answers on the folder's socket
 */
export async function findLiveRedis(
  folder: string,
  address: RedisAddress,
  clock: Clock,
): Promise<ProcessIdentity | null> {
  const deadlineMs = clock.monotonicMs() + SILENCE_MS_MAX
  for (;;) {
    const probe = await probeRedis(urlOf(address), PROBE_TIMEOUT_MS)
    if (probe.state === 'absent') break
    if (probe.state === 'foreign' || (probe.state !== 'silent' && !isSameFolder(probe.dir, folder))) {
      if (address.kind === 'port') break
      const reason = probe.state === 'foreign' ? probe.reason : `it keeps its data in ${probe.dir}`
      throw new StartupError(
        `A Redis that is not ours answers at ${nameOf(address)} (${reason}): stop it first.`,
      )
    }
    const identity = probe.state === 'silent' ? null : identityOf(probe.pid)
    if (identity !== null) return identity
    if (clock.monotonicMs() > deadlineMs) throw new StartupError(silentText(folder, address))
    await pause(clock, RETRY_MS)
  }
  const lost = processOf(folder, address)
  if (lost !== null) await adoptProcess(lost, clock).terminate()
  return null
}

function isSameFolder(dir: string, folder: string): boolean {
  try {
    return realpathSync(dir) === realpathSync(folder)
  } catch {
    return false
  }
}

/** The process of Redis's pid file, if it still runs and listens at our address. */
function processOf(folder: string, address: RedisAddress): ProcessIdentity | null {
  try {
    const identity = identityOf(Number(readFileSync(join(folder, 'redis.pid'), 'utf8')))
    return identity?.command.includes(nameOf(address)) === true ? identity : null
  } catch {
    return null
  }
}

function silentText(folder: string, address: RedisAddress): string {
  const pid = processOf(folder, address)?.pid
  const process = pid === undefined ? '' : ` (process ${pid})`
  const how = pid === undefined ? 'end it' : `end it with kill ${pid}`
  return `The Redis at ${nameOf(address)}${process} accepts connections and does not answer: ${how}, then start again.`
}
