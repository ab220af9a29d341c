export type TimedScenario = 'life' | 'batches' | 'limited' | 'lateness'

/** How much of everything one run takes. */
export interface Sizes {
  readonly label: 'full' | 'quick' | 'smoke'
  /** Alternating runs of the scenarios that measure speed. */
  readonly runs: number
  readonly acceptSeconds: number
  readonly endToEndSeconds: number
  readonly limitedQueues: number
  readonly limitedJobs: number
  readonly latenessSeconds: number
  readonly memoryJobs: number
  readonly idleQueues: number
  /** Peers pay per idle queue and process; what they pay is measured on fewer and multiplied. */
  readonly peerIdleQueues: number
  readonly idleSeconds: number
  readonly heldJobs: number
  readonly openCalls: number
  /** Each contender's calls at once are the best of these. */
  readonly concurrency: readonly number[]
  /** Scenarios that do not need the cores for themselves run side by side. */
  readonly isOverlapping: boolean
  /** Peers that take part; null = all. */
  readonly peers: readonly string[] | null
  /** Peers that take part in every run and in lateness, null = all; to save time, the others take part in the first run of a job's life alone. */
  readonly repeatedPeers: readonly string[] | null
  /** No run of a scenario but its first begins that is likely to end later than so many seconds after the start. */
  readonly untilSeconds: Readonly<Record<TimedScenario, number>>
}

export const QUEUE_LIMIT = 4

const FULL: Sizes = {
  label: 'full',
  runs: 5,
  acceptSeconds: 4,
  endToEndSeconds: 5,
  limitedQueues: 1_000,
  limitedJobs: 60_000,
  latenessSeconds: 5,
  memoryJobs: 100_000,
  idleQueues: 100_000,
  peerIdleQueues: 1_000,
  idleSeconds: 20,
  heldJobs: 1_000,
  openCalls: 10_000,
  concurrency: [64, 150, 300],
  isOverlapping: false,
  peers: null,
  repeatedPeers: null,
  // What follows takes about 400 s: forty minutes in all.
  untilSeconds: { life: 1_100, batches: 1_200, limited: 1_340, lateness: 1_930 },
}

const QUICK: Sizes = {
  ...FULL,
  label: 'quick',
  runs: 3,
  acceptSeconds: 1,
  endToEndSeconds: 1,
  limitedJobs: 6_000,
  latenessSeconds: 1,
  memoryJobs: 20_000,
  idleQueues: 5_000,
  peerIdleQueues: 200,
  idleSeconds: 10,
  concurrency: [150],
  isOverlapping: true,
  // Those that need nothing but Node and Debian's packages.
  peers: ['bullmq', 'bullmq_add_bulk', 'quirrel', 'graphile_worker', 'pg_boss'],
  repeatedPeers: ['bullmq'],
  // What follows takes about a minute: three in all, even where the machine is busy with other things.
  untilSeconds: { life: 55, batches: 65, limited: 82, lateness: 100 },
}

/** Proves that every scenario works; its figures mean nothing. */
const SMOKE: Sizes = {
  ...QUICK,
  label: 'smoke',
  runs: 1,
  peers: null,
  repeatedPeers: null,
  limitedQueues: 20,
  limitedJobs: 1_000,
  latenessSeconds: 1,
  memoryJobs: 1_000,
  idleQueues: 200,
  peerIdleQueues: 20,
  idleSeconds: 2,
  heldJobs: 50,
  openCalls: 500,
}

export function sizesOf(label: string): Sizes {
  if (label === 'quick') return QUICK
  return label === 'smoke' ? SMOKE : FULL
}
