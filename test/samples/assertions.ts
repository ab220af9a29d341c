import type { GivenInvalidSample, GivenSample } from './sample.ts'

const STATUS = 'must be a status from 100 to 599'
const MILLISECONDS = 'must be a number of milliseconds from 1 to 300000'
const TEXT = 'must be a text of 1 to 4096 characters; put quotes around a number'
const VALUES: ReadonlyArray<readonly [string, string | number]> = [
  ['StatusCodeEquals', 100],
  ['StatusCodeEquals', 599],
  ['StatusCodeEquals', '100'],
  ['StatusCodeEquals', '599'],
  ['ResponseTimeUnderMs', 1],
  ['ResponseTimeUnderMs', 300_000],
  ['ResponseTimeUnderMs', '1'],
  ['ResponseTimeUnderMs', '300000'],
  ['BodyContains', 'x'],
  ['BodyContains', '200'],
  ['BodyContains', '😀'.repeat(4096)],
]

const VALUES_REFUSED: ReadonlyArray<readonly [string, string | number, string]> = [
  ['StatusCodeEquals', 99, STATUS],
  ['StatusCodeEquals', 600, STATUS],
  ['StatusCodeEquals', -200, STATUS],
  ['StatusCodeEquals', '600', STATUS],
  ['StatusCodeEquals', '099', STATUS],
  ['StatusCodeEquals', '200 ', STATUS],
  ['StatusCodeEquals', '', STATUS],
  ['ResponseTimeUnderMs', 0, MILLISECONDS],
  ['ResponseTimeUnderMs', 300_001, MILLISECONDS],
  ['ResponseTimeUnderMs', '0', MILLISECONDS],
  ['ResponseTimeUnderMs', '300001', MILLISECONDS],
  ['ResponseTimeUnderMs', '1e3', MILLISECONDS],
  ['ResponseTimeUnderMs', 'fast', MILLISECONDS],
  ['BodyContains', '', TEXT],
  ['BodyContains', 200, TEXT],
]

/**
 * Success assertions, which queues and crons have alike.
 * @param least fields that the spec needs beside them
 */
export function assertionSamples(least: object): {
  readonly valid: readonly GivenSample[]
  readonly invalid: readonly GivenInvalidSample[]
} {
  const sampleOf = (type: string, value: string | number): GivenSample => ({
    title: `${type} ${typeof value} ${String(value).slice(0, 10)}`,
    spec: { ...least, successAssertions: [{ type, value }] },
  })
  return {
    valid: VALUES.map(([type, value]) => sampleOf(type, value)),
    invalid: VALUES_REFUSED.map(([type, value, rule]) => ({
      ...sampleOf(type, value),
      field: 'spec.successAssertions[0].value',
      rule,
    })),
  }
}
