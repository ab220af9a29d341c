import { describe, expect, test } from 'vitest'
import { DEFAULT_CRON_SETTINGS } from '../../../src/domain/crons/cron.ts'
import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import { nameOfNewCron, newCronManifest } from '../../../src/resources/manifests/cron-manifest.ts'
import { specOfCronSettings } from '../../../src/resources/cron-spec.ts'
import { recordedOf } from '../../../src/resources/recorded-spec.ts'
import { createManifestReader } from '../../../src/resources/manifests/manifest-reader.ts'

const reader = createManifestReader('default')

function read(text: string) {
  const { resources, problems } = reader.read('a.yaml', text)
  const [found] = resources
  return { problems, settings: found?.resource.kind === 'HttpCron' ? found.resource.settings : null }
}
const manifest = (spec: object) =>
  JSON.stringify({
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'HttpCron',
    metadata: { name: 'daily' },
    spec: { url: 'https://a.test', cronExpression: '0 8 * * *', ...spec },
  })

const ALL: CronSettings = {
  displayName: 'Nightly: "all"',
  url: 'https://a.test/x?y=1',
  method: 'PUT',
  headers: { 'X-B': '2', 'X-A': '1', '10': 'ten' },
  payload: '{\n  "n": 1.0\n}\n',
  callbackUrl: 'https://a.test/done',
  cronExpression: '*/5 1-3 1 * MON',
  timeZone: 'America/Argentina/Ushuaia',
  isActive: false,
  concurrencyPolicy: 'forbid',
  recordResponses: 'none',
  missedRunPolicy: 'all',
  startingDeadlineSeconds: 60,
  jitterSeconds: 30,
  queue: 'Mails: out',
  timeoutSeconds: 12,
  successAssertions: [
    { type: 'status_code_equals', value: 204 },
    { type: 'body_contains', value: '200' },
    { type: 'response_time_under_ms', value: 5 },
  ],
  alertThreshold: 3,
  signer: null,
}

describe('settings and spec', () => {
  test('of the least say the defaults, and show the name of the resource', () => {
    expect(read(manifest({}))).toEqual({
      problems: [],
      settings: {
        ...DEFAULT_CRON_SETTINGS,
        displayName: 'daily',
        url: 'https://a.test',
        cronExpression: '0 8 * * *',
      },
    })
  })

  test('come back as they went, whole and field by field', () => {
    expect(read(newCronManifest({ name: 'daily', namespace: null }, ALL))).toEqual({
      problems: [],
      settings: ALL,
    })
    for (const [field, value] of Object.entries(ALL)) {
      const spec = specOfCronSettings({ [field]: value })
      expect(read(manifest(spec)).settings).toMatchObject({ [field]: value })
    }
  })

  test('keep responses where the definition in the cluster does not know the setting yet', () => {
    expect(recordedOf(undefined)).toBe('all')
  })

  test('of what is absent is null, as a merge patch takes it away', () => {
    const absent = { payload: null, callbackUrl: null, startingDeadlineSeconds: null, queue: null }
    expect(specOfCronSettings(absent)).toEqual(absent)
    expect(read(manifest(absent)).settings).toMatchObject(absent)
  })
})

test.each([
  [
    '61 * * * *',
    'UTC',
    'spec.cronExpression',
    'has "61" as minute: allowed are 0 to 59, ranges a-b, steps */n and lists of these.',
  ],
  ['0 0 31 2 *', 'UTC', 'spec.cronExpression', 'never comes: none of its months has a day 31.'],
  [
    '0 8 * * *',
    'Mars/Base',
    'spec.timeZone',
    'must be the IANA name of a time zone, such as Europe/Berlin or UTC; "Mars/Base" is none.',
  ],
])('%s in %s is a problem of %s', (cronExpression, timeZone, field, reason) => {
  expect(read(manifest({ cronExpression, timeZone })).problems).toMatchObject([{ field, reason }])
})

test.each([
  ['Nightly report', 'nightly-report-0a1b2c3d'],
  ['夜', 'cron-0a1b2c3d'],
  ['x'.repeat(255), `${'x'.repeat(48)}-0a1b2c3d`],
])('the resource of a cron called %s is %s', (displayName, name) => {
  expect(nameOfNewCron(displayName, '0a1b2c3d')).toBe(name)
})
