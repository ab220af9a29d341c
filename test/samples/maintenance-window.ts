import type { KindSamples } from './sample.ts'

const START = '2026-11-21T09:00:00Z'
const END = '2026-11-21T10:00:00Z'
const RECURRING = [{ cronExpression: '0 1 * * 6', durationSeconds: 3600 }]

const TOGETHER = 'start and end go together'
const NEITHER = 'needs start and end, or recurring'
const BOTH = 'cannot be given beside start and end'
const ORDER = 'must be later than start'
const FIVE_FIELDS =
  'must have five fields: minute, hour, day of month, month, day of week; neither seconds nor macros such as @daily are known'

const NO_VALUE =
  'has an invalid value: allowed are numbers, names of three letters, ranges a-b, steps */n and lists of these'

const TIMES_REFUSED = [
  'tomorrow',
  '2026-11-21',
  '2026-11-21T09:00:00',
  '2026-11-21 09:00:00Z',
  '2026-02-30T09:00:00Z',
  '2026-13-01T09:00:00Z',
  '2026-11-21T24:00:00Z',
  '2026-11-21T09:60:00Z',
  '2026-11-21T09:00:60Z',
  '2026-11-21T09:00:00,5Z',
  '2026-11-21T09:00:00+24:00',
  '',
]

export const MAINTENANCE_WINDOW: KindSamples = {
  kind: 'MaintenanceWindow',
  crd: 'maintenancewindows.punctual.dev.yaml',
  name: 'night',
  full: [
    {
      action: 'Hold',
      resource: { kind: 'HttpQueue', name: 'Mails: out' },
      start: START,
      end: END,
      reason: 'move',
    },
    { recurring: [{ cronExpression: '0 1 * * 6', timeZone: 'Asia/Tokyo', durationSeconds: 3600 }] },
  ],
  padding: { 'spec.recurring[].cronExpression': '0', 'spec.recurring[].timeZone': null },
  strictFields: ['spec.recurring[].cronExpression', 'spec.recurring[].timeZone'],
  valid: [
    { title: 'once', spec: { start: START, end: END } },
    { title: 'again and again', spec: { recurring: RECURRING } },
    { title: 'two rhythms', spec: { recurring: [...RECURRING, ...RECURRING] } },
    { title: 'a moment', spec: { start: '2026-11-21T09:00:00.000Z', end: '2026-11-21T09:00:00.001Z' } },
    { title: 'a leap year', spec: { start: '2027-03-01T00:00:00Z', end: '2028-03-01T00:00:00Z' } },
    { title: 'a leap day', spec: { start: '2028-02-29T09:00:00Z', end: '2028-02-29T09:00:01Z' } },
    {
      title: 'an end that looks earlier',
      spec: { start: '2026-11-21T09:00:00+02:00', end: '2026-11-21T08:00:00Z' },
    },
  ],
  invalid: [
    { title: 'no time at all', spec: {}, field: 'spec', rule: NEITHER },
    { title: 'no end', spec: { start: START }, field: 'spec', rule: TOGETHER },
    { title: 'no start', spec: { end: END }, field: 'spec', rule: TOGETHER },
    {
      title: 'once and again',
      spec: { start: START, end: END, recurring: RECURRING },
      field: 'spec.recurring',
      rule: BOTH,
    },
    {
      title: 'a start beside a rhythm',
      spec: { start: START, recurring: RECURRING },
      field: 'spec.recurring',
      rule: BOTH,
    },
    { title: 'no length', spec: { start: START, end: START }, field: 'spec.end', rule: ORDER },
    { title: 'backwards', spec: { start: END, end: START }, field: 'spec.end', rule: ORDER },
    {
      title: 'more than a leap year',
      spec: { start: '2027-03-01T00:00:00Z', end: '2028-03-01T00:00:00.001Z' },
      field: 'spec.end',
      rule: 'must be within 366 days of start',
    },
    { title: 'another action', spec: { action: 'Skip', start: START, end: END }, field: 'spec.action' },
    {
      title: 'an end that looks later',
      spec: { start: '2026-11-21T09:00:00Z', end: '2026-11-21T10:00:00+02:00' },
      field: 'spec.end',
      rule: ORDER,
    },
    {
      title: 'a macro',
      spec: { recurring: [{ cronExpression: '@daily', durationSeconds: 60 }] },
      field: 'spec.recurring[0].cronExpression',
      rule: FIVE_FIELDS,
    },
    {
      title: 'a value of Jenkins',
      spec: { recurring: [{ cronExpression: 'H 1 * * 6', durationSeconds: 60 }] },
      field: 'spec.recurring[0].cronExpression',
      rule: NO_VALUE,
    },
    ...TIMES_REFUSED.map((start) => ({
      title: `the time ${JSON.stringify(start)}`,
      spec: { start, end: END },
      field: 'spec.start',
    })),
  ],
}
