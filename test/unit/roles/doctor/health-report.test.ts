import { describe, expect, test } from 'vitest'
import type { HealthFinding } from '../../../../src/ports/health.ts'
import { reportOf, textOf } from '../../../../src/roles/doctor/health-report.ts'

const finding = (severity: HealthFinding['severity'], subject = 'shard 1'): HealthFinding => ({
  severity,
  subject,
  message: 'It is broken.',
  advice: 'Mend it.',
})

describe('the report of a check', () => {
  test.each([
    ['ok', []],
    ['warning', [finding('warning')]],
    ['failed', [finding('warning'), finding('failed'), finding('warning')]],
  ] as const)('is %s by its worst finding', (status, findings) => {
    expect(reportOf('clock', { summary: '', findings }).status).toBe(status)
  })

  test('is a line, and each finding below it says what to do', () => {
    const report = reportOf('data', { summary: '3 queues in 4 shards', findings: [finding('failed')] })
    expect(textOf(report)).toBe(
      [
        'failed   data          3 queues in 4 shards',
        '         failed: shard 1',
        '           It is broken.',
        '           To do: Mend it.',
        '',
      ].join('\n'),
    )
  })

  test('shows twenty findings and counts the others', () => {
    const findings = Array.from({ length: 23 }, (_, at) => finding('failed', `queue ${at}`))
    const text = textOf(reportOf('data', { summary: '', findings }))
    expect(text).toContain('queue 19')
    expect(text).not.toContain('queue 20')
    expect(text).toMatch(/and 3 more \(--json shows up to a thousand\)\n$/)
  })
})
