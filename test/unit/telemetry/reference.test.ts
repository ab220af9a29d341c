/** The page of metrics has every series, with its kind, its labels and its own words, and no others. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClusterMetrics } from '../../../src/telemetry/cluster-metrics.ts'
import { createControllerMetrics } from '../../../src/telemetry/controller-metrics.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { createRedisMetrics } from '../../../src/telemetry/redis/redis-metrics.ts'
import { createRequestMetrics } from '../../../src/telemetry/requests/request-metrics.ts'
import { createReconcileMetrics } from '../../../src/telemetry/reconcile-metrics.ts'
import { createScalingMetrics } from '../../../src/telemetry/scaling-metrics.ts'
import { createTracingMetrics } from '../../../src/telemetry/tracing/tracing-metrics.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const DOCS = join(import.meta.dirname, '../../../docs')

async function seriesOfAll(): Promise<string[][]> {
  const { registry } = createMetrics({ processMetrics: false })
  createTracingMetrics(registry)
  createRedisMetrics(registry)
  createRequestMetrics(registry)
  createControllerMetrics(registry)
  createScalingMetrics(registry)
  createReconcileMetrics(registry)
  createClusterMetrics(registry, createFakeClock())
  const series = await registry.getMetricsAsJSON()
  return series.map(({ name, type, help }) => {
    const made = registry.getSingleMetric(name) as unknown as { readonly labelNames: readonly string[] }
    const labels = made.labelNames.map((label) => `\`${label}\``).join(', ')
    return [`\`${name}\``, String(type), labels === '' ? '–' : labels, help]
  })
}

function rowsOf(page: string): string[][] {
  const rows = [...page.matchAll(/^\| (`punctual_\w+`.*) \|$/gm)]
  return rows.map(([, row = '']) => row.split('|').map((cell) => cell.trim()))
}

test('the page of metrics', async () => {
  const page = readFileSync(join(DOCS, 'reference/metrics.md'), 'utf8')
  expect(rowsOf(page)).toEqual(await seriesOfAll())
})

test('no page names a series that is not there', async () => {
  const known = (await seriesOfAll()).map(([name = '']) => name.slice(1, -1))
  const pages = globSync('**/*.md', { cwd: DOCS })
  const named = pages.flatMap((path) => {
    const words = readFileSync(join(DOCS, path), 'utf8').match(/\bpunctual_[a-z_]+/g) ?? []
    return words.map((name) => `${path}: ${name}`)
  })
  expect(named).toContain('scaling.md: punctual_scaling_limited')
  expect(named.filter((one) => !known.some((name) => one.endsWith(`: ${name}`)))).toEqual([])
})
