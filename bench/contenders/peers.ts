import { BenchError, messageOf } from '../harness/bench-error.ts'
import { findPostgres } from '../harness/postgres-server.ts'
import { installPeers } from '../harness/requirements.ts'
import { buildGoPeer, installCelery } from '../harness/toolchains.ts'
import { asynqBy } from './asynq.ts'
import { bullmq, bullmqAddBulk } from './bullmq.ts'
import { celeryBy } from './celery.ts'
import type { Contender } from './contender.ts'
import { graphileWorkerOn } from './graphile-worker.ts'
import { pgBossOn } from './pg-boss.ts'
import { findQuirrelNode, quirrelOn } from './quirrel.ts'
import { riverBy } from './river.ts'

/** What several peers need, made sure of once. Each throws BenchError with the reason why it cannot be had. */
interface Ground {
  say(text: string): void
  nodePackages(): void
  postgres: typeof findPostgres
}

/** Every peer, in the order of the runs, and how it is made ready. */
const PEERS: Readonly<Record<string, (ground: Ground) => Contender | Promise<Contender>>> = {
  bullmq: ({ nodePackages }) => (nodePackages(), bullmq),
  bullmq_add_bulk: ({ nodePackages }) => (nodePackages(), bullmqAddBulk),
  quirrel: ({ nodePackages }) => {
    nodePackages()
    const node = findQuirrelNode(process.env['PATH'] ?? '')
    if (node === null) throw new BenchError('its package supports Node 14 to 20, and none is on PATH')
    return quirrelOn(node)
  },
  graphile_worker: async ({ nodePackages, postgres }) => {
    nodePackages()
    return graphileWorkerOn(await postgres())
  },
  pg_boss: async ({ nodePackages, postgres }) => {
    nodePackages()
    return pgBossOn(await postgres())
  },
  asynq: ({ say }) => asynqBy(buildGoPeer('asynq', say)),
  river: async ({ say, postgres }) => riverBy(buildGoPeer('river', say), await postgres()),
  celery: ({ say }) => celeryBy(installCelery(say)),
}

export const PEER_NAMES = Object.keys(PEERS)

/** Makes the named peers ready; one that cannot be had is left out, with the reason. */
export async function findPeers(
  names: readonly string[],
  say: (text: string) => void,
): Promise<{ peers: Contender[]; skipped: string[] }> {
  for (const name of names) if (!(name in PEERS)) throw new BenchError(`PEERS knows ${PEER_NAMES.join(', ')}`)
  const ground = groundOf(say)
  const peers: Contender[] = []
  const skipped: string[] = []
  for (const [name, prepare] of Object.entries(PEERS).filter(([name]) => names.includes(name))) {
    try {
      peers.push(await prepare(ground))
    } catch (error) {
      if (!(error instanceof BenchError)) throw error
      skipped.push(`${name}: ${messageOf(error)}`)
    }
  }
  return { peers, skipped }
}

function groundOf(say: (text: string) => void): Ground {
  let problem: string | null | undefined
  let postgres: ReturnType<typeof findPostgres> | undefined
  return {
    say,
    nodePackages: () => {
      problem ??= installPeers(say)
      if (problem !== null) throw new BenchError(problem)
    },
    postgres: () => (postgres ??= findPostgres()),
  }
}
