import { TOLD_OF_LOSS } from '../runner/play.ts'
import { scenariosOn, type Scenario } from '../runner/scenario.ts'
import {
  PATIENT_DOWN_AFTER_MS,
  startSentinelTopology,
  type SentinelTopology,
} from '../topologies/sentinels.ts'

/** Later than sentinels agree that it is down: one that is back sooner goes on as the primary. */
const RESTART_LATE_MS = 3_000
/** Sooner than any of them takes it for down. */
const RESTART_EARLY_MS = 500
/** By how much replicas are behind, where they are. */
const BEHIND_MS = 500
const RELAXED = 'relaxed'
const REPLICATED = 'replicated'

const onSentinels = scenariosOn(() => startSentinelTopology())
const onPatientSentinels = scenariosOn(() => startSentinelTopology({ downAfterMs: PATIENT_DOWN_AFTER_MS }))
const onSentinelsWithPasswords = scenariosOn(() =>
  startSentinelTopology({ passwords: { redis: 'of-the-servers', sentinels: 'of-the-sentinels' } }),
)

type Strike = (redis: SentinelTopology) => Promise<void>

const PLANNED: ReadonlyArray<readonly [what: string, strike: Strike]> = [
  ['sentinels fail over as planned', (redis) => redis.failOver()],
]
const STRIKES: ReadonlyArray<readonly [what: string, strike: Strike]> = [
  ['a planned failover comes to nothing, as the replicas hang', (redis) => redis.failOverInVain()],
  ['the primary is killed, and sentinels fail over', (redis) => redis.killPrimary(RESTART_LATE_MS)],
  [
    'the primary is killed while its replicas are half a second behind',
    (redis) => redis.killPrimaryAhead(BEHIND_MS),
  ],
  [
    'the primary is killed and back before sentinels miss it',
    (redis) => redis.restartPrimary(RESTART_EARLY_MS),
  ],
]

export const SENTINEL_SCENARIOS = [
  ...eachDurability(onPatientSentinels, PLANNED),
  ...eachDurability(onSentinels, STRIKES),
  onSentinelsWithPasswords(
    'F11',
    'sentinels that ask for a password fail over as planned (relaxed)',
    ...played((redis) => redis.failOver(), RELAXED),
  ),
]

function eachDurability(
  on: typeof onSentinels,
  strikes: ReadonlyArray<readonly [what: string, strike: Strike]>,
) {
  return strikes.flatMap(([what, strike]) =>
    [RELAXED, REPLICATED].map((durability) =>
      on('F11', `${what} (${durability})`, ...played(strike, durability)),
    ),
  )
}

/** With `relaxed` what a replica had not received is lost, and has to be told; with `replicated` nothing is. */
function played(
  strike: Strike,
  durability: string,
): [Scenario<SentinelTopology>['fault'], Partial<Scenario<SentinelTopology>>] {
  const takesAccepted = durability === RELAXED
  return [
    async ({ redis }) => {
      const fromMs = Date.now()
      await strike(redis)
      return { fromMs, toMs: Date.now(), takesAccepted }
    },
    {
      options: { env: { PUNCTUAL_REDIS_DURABILITY: durability } },
      // The end of a call may be lost, and the call is made again.
      allowed: { moreCalls: 1 },
      isRepeatable: true,
      expectation: { errors: takesAccepted ? [TOLD_OF_LOSS] : [] },
    },
  ]
}
