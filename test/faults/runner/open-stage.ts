import { SeededRandom } from '../../simulation/story/seeded-random.ts'
import { startRoles, TOKEN } from '../../support/engine/installation.ts'
import { freePort } from '../../support/servers/redis-server.ts'
import { makeCrons } from '../load/crons.ts'
import { startLoad, type Load } from '../load/load.ts'
import { ALARMED_QUEUE, answerAsDrawn, LIMIT, LIMITED_QUEUE, PACE, PACED_QUEUE } from '../load/push-mix.ts'
import type { Topology } from '../topologies/topology.ts'
import type { Scenario, Stage, StageOptions } from './scenario.ts'

const OPTIONS: StageOptions = { executors: 2, perSecond: 120, env: {} }

/** A stage between two loads. Its roles and its Redis stop with `here`. */
export interface OpenStage extends Omit<Stage<Topology>, 'load'> {
  /** Pushes go on where those before have ended. */
  newLoad(): Load
}

/** Starts what a scenario strikes. */
export async function openStage(
  scenario: Pick<Scenario, 'startRedis' | 'options'>,
  seed: number,
): Promise<OpenStage> {
  const random = new SeededRandom(seed)
  const { executors, perSecond, env } = { ...OPTIONS, ...scenario.options }
  const redis = await scenario.startRedis()
  const apiEnv = { ...env, ...redis.apiEnv, PUNCTUAL_PORT: String(await freePort()) }
  const executorEnv = { ...env, ...redis.executorEnv }
  const here = await startRoles(redis, { executors, apiEnv, executorEnv })
  answerAsDrawn(here.target)
  await here.client.makeQueue(LIMITED_QUEUE, { max_parallelism: LIMIT })
  await here.client.makeQueue(PACED_QUEUE, { rate_limit: PACE })
  await here.client.makeQueue(ALARMED_QUEUE, { alerts_enabled: true })
  const cronIds = await makeCrons(here.client, here.target.url)
  let firstPush = 0
  let last: Load | null = null
  return {
    here,
    redis,
    cronIds,
    restartApi: () => here.startApi(apiEnv),
    random,
    newLoad: () => {
      firstPush = last?.records.reduce((next, { draw }) => Math.max(next, draw.n + 1), firstPush) ?? 0
      const [{ url }, targetUrl] = [here.api, here.target.url]
      last = startLoad({
        url,
        token: TOKEN,
        targetUrl,
        perSecond,
        firstPush,
        seed: random.integer(0, 2 ** 31),
      })
      return last
    },
  }
}
