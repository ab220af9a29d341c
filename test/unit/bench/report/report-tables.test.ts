import { describe, expect, test } from 'vitest'
import { breakdownLines } from '../../../../bench/report/breakdown-table.ts'
import { Measurements, type Figure } from '../../../../bench/report/figures.ts'
import { latenessLines } from '../../../../bench/report/lateness-table.ts'
import { peerAdvantages } from '../../../../bench/report/peer-advantages.ts'

function figures(values: Readonly<Record<string, Readonly<Record<string, number>>>>): Figure[] {
  const measured = new Measurements()
  for (const [figure, byContender] of Object.entries(values)) {
    for (const [name, value] of Object.entries(byContender))
      measured.add(figure as Figure['name'], name, value)
  }
  return measured.figures()
}

describe('where a peer is better', () => {
  test('every such figure is named, with every better peer, the best first', () => {
    const found = peerAdvantages(
      figures({
        executed_jobs_per_second: { punctual: 100, quirrel: 50, asynq: 120, river: 400 },
        lateness_p50_ms: { punctual: 6, quirrel: 3, bullmq: 28 },
        lost_jobs: { punctual: 0, bullmq: 0 },
        recovery_seconds: { punctual: 17, bullmq: 60 },
        rss_mib_10000_calls: { punctual: 256 },
      }),
    )
    expect(found).toHaveLength(2)
    expect(found[0]).toBe(
      '`executed_jobs_per_second`: river 400, asynq 120 against 100 jobs/s of Punctual (0.25× of the best). The cause has not been looked into.',
    )
    expect(found[1]).toMatch(
      /^`lateness_p50_ms`: quirrel 3 against 6 ms of Punctual \(0\.50× .*half of its own rate/,
    )
  })

  test('jobs that only Punctual lost are named too', () => {
    expect(peerAdvantages(figures({ lost_jobs: { punctual: 2, bullmq: 0 } }))[0]).toMatch(
      /^`lost_jobs`: bullmq 0 against 2/,
    )
  })
})

describe('the table of lateness', () => {
  const paces = { own: { punctual: 5_199, bullmq: 3_024, quirrel: 1_381 }, equal: 1_381, slowest: 'quirrel' }

  test('has both rates of each contender that was measured, and says whose the equal one is', () => {
    const text = latenessLines(
      figures({
        lateness_p50_ms: { punctual: 6, bullmq: 28 },
        lateness_p99_ms: { punctual: 114, bullmq: 121 },
        lateness_equal_p50_ms: { punctual: 2, bullmq: 20 },
        lateness_equal_p99_ms: { punctual: 9, bullmq: 90 },
      }),
      paces,
    ).join('\n')
    expect(text).toContain('half of what the slowest contender, quirrel, does')
    expect(text).toMatch(/\| ms +\| p50 at 1,381 jobs\/s \| p99 at 1,381 jobs\/s \| own rate, jobs\/s \|/)
    expect(text).toMatch(/\| punctual +\| 2 +\| 9 +\| 5,199 +\| 6 +\| 114 +\|/)
    expect(text).toMatch(/\| bullmq +\| 20 +\| 90 +\| 3,024 +\| 28 +\| 121 +\|/)
    expect(text).not.toContain('| quirrel')
  })

  test('is left out when nothing was measured', () => {
    expect(latenessLines([], paces)).toEqual([])
    expect(latenessLines(figures({ lateness_p50_ms: { punctual: 6 } }), null)).toEqual([])
  })
})

describe('the table of places', () => {
  const api = { name: 'API: CPU', unit: 'µs', perJob: 50 }
  const executor = { name: 'Executor: allocated', unit: 'B', perJob: 40_000 }

  test('puts the costs of a job beside the shares, and our folders last, the largest first', () => {
    const lines = breakdownLines([
      {
        ...api,
        shares: {
          'garbage collection': 0.1,
          'src/api': 0.2,
          'src/redis': 0.69,
          'src/settings': 0.004,
          'src/roles': 0.006,
        },
      },
      { ...executor, shares: { '`undici`': 0.5, 'src/redis': 0.5 } },
    ])
    const rows = lines.slice(4).map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    expect(rows).toEqual([
      ['garbage collection', '10.0 %, 5 µs', '–'],
      ['`undici`', '–', '50.0 %, 20,000 B'],
      ['our code, all folders', '90.0 %, 45 µs', '50.0 %, 20,000 B'],
      ['— of it `src/redis`', '69.0 %, 34.5 µs', '50.0 %, 20,000 B'],
      ['— of it `src/api`', '20.0 %, 10 µs', '–'],
      ['— of it other folders', '1.0 %, 0.5 µs', '–'],
      ['a job', '50 µs', '40,000 B'],
    ])
  })

  test('is left out without a profile', () => {
    expect(breakdownLines([])).toEqual([])
  })
})
