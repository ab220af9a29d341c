import { cliError, MISUSED } from './cli-error.ts'
import { durationMs } from './given-time.ts'

/** As the API has it. */
export interface GivenRate {
  readonly limit: number
  readonly period_seconds: number
}

/** Reads `10/s` or `600/1m`; null = none. */
export function givenRate(flag: string, text: string): GivenRate | null {
  if (text === 'none') return null
  const [, count = '', times = '', unit = ''] = /^([1-9][0-9]{0,8})\/([0-9]*)([smhd])$/.exec(text) ?? []
  if (count === '') {
    throw cliError(
      `${flag} ${JSON.stringify(text)} is not a rate: give one such as 10/s or 600/1m, or none`,
      MISUSED,
    )
  }
  const period = durationMs(flag, `${times === '' ? '1' : times}${unit}`)
  return { limit: Number(count), period_seconds: period / 1000 }
}

const UNITS: ReadonlyArray<readonly [seconds: number, unit: string]> = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
]

/** A rate as `--rate-limit` takes it. */
export function rateText({ limit, period_seconds: period }: GivenRate): string {
  const [seconds, unit] = UNITS.find(([each]) => period % each === 0) ?? [1, 's']
  const count = period / seconds
  return `${limit}/${count === 1 ? '' : count}${unit}`
}
