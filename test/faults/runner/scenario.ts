import type { SeededRandom } from '../../simulation/story/seeded-random.ts'
import type { Api, Roles } from '../../support/engine/installation.ts'
import type { StopExpectation } from '../../support/servers/processes.ts'
import type { Allowance } from '../checker/figures.ts'
import type { Forgotten } from '../checker/judge.ts'
import type { Load } from '../load/load.ts'
import { startSingleRedis, type SingleRedis } from '../topologies/single-redis.ts'
import type { Topology } from '../topologies/topology.ts'

/** What a fault strikes: an installation under load. */
export interface Stage<T extends Topology = SingleRedis> {
  readonly here: Roles
  readonly redis: T
  /** Crons that tick each minute. */
  readonly cronIds: readonly number[]
  /** Starts the API again at its port, after its process has ended. */
  restartApi(): Promise<Api>
  readonly load: Load
  readonly random: SeededRandom
}

export interface StageOptions {
  readonly executors: number
  readonly perSecond: number
  /** Of every role. */
  readonly env: Readonly<Record<string, string>>
}

/** A row of the fault matrix, tried under load. */
export interface Scenario<T extends Topology = Topology> {
  /** `F01` to `F36`. */
  readonly row: string
  /** A sentence about the fault; unique. */
  readonly name: string
  /** Takes few seconds and little of the machine: CI runs such ones in turn. */
  readonly isCheap: boolean
  /** Leaves every process as it was, or in its place: it may be played again on the same installation. */
  readonly isRepeatable: boolean
  /** Why it cannot run on this machine; null = it can. */
  obstacle(): string | null
  startRedis(): Promise<T>
  readonly options: Partial<StageOptions>
  readonly allowed: Partial<Allowance>
  /** What the roles may write because of the fault. */
  readonly expectation: StopExpectation
  /**
   * Runs while pushes go on, which have to be accepted again once it has ended. Answers in which time Redis may have
   * forgotten what it answered, if it may.
   */
  fault(stage: Stage<T>): Promise<Forgotten | void>
}

type Rest<T extends Topology> = Partial<Omit<Scenario<T>, 'row' | 'name' | 'fault' | 'startRedis'>>

/** Makes scenarios of a Redis of some shape. */
export function scenariosOn<T extends Topology>(startRedis: () => Promise<T>) {
  return (row: string, name: string, fault: Scenario<T>['fault'], rest: Rest<T> = {}): Scenario<T> => ({
    row,
    name,
    fault,
    startRedis,
    isCheap: false,
    isRepeatable: false,
    obstacle: () => null,
    options: {},
    allowed: {},
    expectation: {},
    ...rest,
  })
}

const startAlone = () => startSingleRedis()

/** On a single Redis. */
export const scenario = scenariosOn(startAlone)

export function isOnSingleRedis(one: Scenario): boolean {
  return one.startRedis === startAlone
}
