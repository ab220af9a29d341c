/** What the chart gives to Prometheus and Grafana: every name in it exists, and real tools take it. */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createClusterMetrics } from '../../../src/telemetry/cluster-metrics.ts'
import { createControllerMetrics } from '../../../src/telemetry/controller-metrics.ts'
import { createMetrics, type MetricsRegistry } from '../../../src/telemetry/metrics.ts'
import { createRedisMetrics } from '../../../src/telemetry/redis/redis-metrics.ts'
import { createRequestMetrics } from '../../../src/telemetry/requests/request-metrics.ts'
import { createReconcileMetrics } from '../../../src/telemetry/reconcile-metrics.ts'
import { createScalingMetrics } from '../../../src/telemetry/scaling-metrics.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { helmObstacle, renderChart } from '../../support/cluster/chart.ts'
import { type AnyObject, documentsOf } from '../../support/cluster/kubernetes-api.ts'
import { prometheusObstacle, promtool, startPrometheus } from '../../support/cluster/prometheus.ts'
import { until } from '../../support/until.ts'

beforeEach(({ skip }) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
})

const ON = {
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' }, interval: '15s' },
  prometheusRule: { enabled: true },
  dashboards: { enabled: true },
}
const NAMES = { namespace: 'jobs', job: 'punctual' }

async function rendered(metrics: object = ON): Promise<AnyObject[]> {
  return documentsOf(await renderChart({ values: { metrics }, namespace: NAMES.namespace }))
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: Readonly<Record<string, string>>
}

async function rulesOf(metrics: object = ON): Promise<{ groups: { name: string; rules: Rule[] }[] }> {
  const rule = (await rendered(metrics)).find(({ kind }) => kind === 'PrometheusRule')
  return rule?.spec as unknown as { groups: { name: string; rules: Rule[] }[] }
}

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

async function panels(): Promise<(Panel & { readonly board: string })[]> {
  const maps = (await rendered()).filter(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.includes('dashboard'),
  ) as unknown as { data: Record<string, string> }[]
  return maps.flatMap(({ data }) =>
    Object.values(data).flatMap((text) => {
      const board = JSON.parse(text) as { title: string; panels: Panel[] }
      return board.panels.map((panel) => ({ ...panel, board: board.title }))
    }),
  )
}

/** All series of a role, as if it had done everything once. */
function everySeries(): MetricsRegistry {
  const made = createMetrics({ processMetrics: true })
  const { metrics, registry } = made
  metrics.jobStarted(20)
  metrics.redisStep('push', 0.001, true)
  createRedisMetrics(registry).serversSeen([
    {
      name: '10.0.0.7:6379',
      version: '8.2.1',
      replicas: [],
      usedBytes: 500,
      maxBytes: 1_000,
      evictedKeys: 0,
      isAppendOnly: true,
      isAppendOnlyWritten: true,
      savedAtSeconds: 0,
      risks: [],
    },
  ])
  createRequestMetrics(registry).answered('POST', '/api/jobs', 201, 0.004)
  const controller = createControllerMetrics(registry)
  controller.engineHeld(true)
  controller.statusWritten('HttpQueue')
  controller.orphanQueues(0)
  controller.orphanCrons(0)
  controller.pushedQueuesWaiting(0)
  controller.queuesThrottled({ rate_limited: 0, target_asks_to_wait: 0, circuit_open: 0 })
  controller.readyJobsCounted({
    startable: 0,
    stopped: { paused: 0, held: 0, throttled: 0, at_limit: 0 },
    oldestStartableMs: 0,
  })
  const scaling = createScalingMetrics(registry)
  scaling.executorReplicas(2, 2, 2)
  scaling.scalingActive(true)
  scaling.scalingLimited(false)
  const reconciles = createReconcileMetrics(registry)
  reconciles.leading(true)
  reconciles.reconciled('httpqueue', 'error', 0.01)
  reconciles.queueDepth('httpqueue', 'high', 0)
  reconciles.keyWaited('httpqueue', 0.01)
  const cluster = createClusterMetrics(registry, systemClock)
  cluster.requestEnded('GET', 200, 0.01)
  cluster.watchEnded('httpqueues', 'closed')
  cluster.watchHeard('httpqueues', null)
  return made
}

/** The page of metrics of a process without a fault, whatever the lag of this one on a busy machine. */
async function healthyPage(): Promise<{ readonly contentType: string; readonly body: string }> {
  const { contentType, body } = await everySeries().render()
  return { contentType, body: body.replaceAll(/^(nodejs_eventloop_lag_p99_seconds) .*$/gm, '$1 0.02') }
}

/** What is written as a metric in PromQL, with the labels that are asked of it. */
function namesIn(expression: string): { readonly metric: string; readonly labels: string[] }[] {
  return [...expression.matchAll(/\b((?:punctual|process|nodejs)_\w+)\{([^}]*)\}/g)].map(
    ([, metric = '', selector = '']) => ({
      metric,
      labels: [...selector.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
    }),
  )
}

/** Labels that the monitors give, beside those of the program. */
const OF_TARGETS = ['namespace', 'job', 'component', 'pod']

describe('every metric and label that is named exists', () => {
  const { registry } = everySeries()

  async function unknownIn(expressions: readonly string[]): Promise<string[]> {
    const known = new Map(
      (await registry.getMetricsAsJSON()).map(({ name, type }) => {
        const { labelNames } = registry.getSingleMetric(name) as unknown as { labelNames: string[] }
        return [name, { type: String(type), labels: labelNames }] as const
      }),
    )
    const definitionOf = (metric: string) => {
      const histogram = known.get(metric.replace(/_(?:bucket|count|sum)$/, ''))
      return histogram?.type === 'histogram' && /_(?:bucket|count|sum)$/.test(metric)
        ? { ...histogram, labels: [...histogram.labels, 'le'] }
        : known.get(metric)
    }
    return expressions.flatMap((expression) => {
      const names = namesIn(expression)
      const own = names.flatMap(({ metric }) => definitionOf(metric)?.labels ?? [])
      const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
        list.split(/,\s*/),
      )
      return [
        ...names.flatMap(({ metric, labels }) => {
          const definition = definitionOf(metric)
          if (definition === undefined) return [metric]
          const allowed = [...definition.labels, ...OF_TARGETS]
          return labels.filter((label) => !allowed.includes(label)).map((label) => `${metric}{${label}}`)
        }),
        ...grouped
          .filter((label) => ![...own, ...OF_TARGETS].includes(label))
          .map((label) => `by (${label})`),
        ...(names.length === 0 && !expression.includes('up{') ? [`nothing in ${expression}`] : []),
      ]
    })
  }

  test('in alerts', async () => {
    const { groups } = await rulesOf()
    const expressions = groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))
    expect(expressions.length).toBeGreaterThan(15)
    expect(await unknownIn(expressions)).toEqual([])
  })

  test('in dashboards, legends too', async () => {
    const all = await panels()
    expect(new Set(all.map(({ board }) => board)).size).toBe(4)
    const targets = all.flatMap(({ targets: some }) => some)
    expect(targets.length).toBeGreaterThan(50)
    expect(await unknownIn(targets.map(({ expr }) => expr))).toEqual([])
    const wrong = targets.filter(({ expr, legendFormat }) =>
      [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].some(
        ([, label = '']) =>
          !new RegExp(`by \\([^)]*\\b${label}\\b`).test(expr) && !OF_TARGETS.includes(label),
      ),
    )
    expect(wrong).toEqual([])
  })

  test('and what is not there is found', async () => {
    expect(await unknownIn(['sum(punctual_nothing{job="a"})'])).toEqual(['punctual_nothing'])
    expect(await unknownIn(['sum by (step) (punctual_jobs_pushed_total{queue="a"})'])).toEqual([
      'punctual_jobs_pushed_total{queue}',
      'by (step)',
    ])
  })
})

describe('alerts', () => {
  test('have a section of the runbooks each, and no section is left over', async () => {
    const { groups } = await rulesOf()
    const page = readFileSync(new URL('../../../docs/runbooks.md', import.meta.url), 'utf8')
    const sections = [...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)
    const [rules = []] = groups.map((group) => group.rules)
    expect(rules.map(({ alert }) => alert)).toEqual(sections)
    // No link without an address: a relative one leads nowhere from an alert.
    for (const { annotations } of rules) {
      expect(annotations).toEqual({ summary: expect.stringMatching(/\.$/) })
    }
  })

  test('link to where you serve the runbooks, leave out what you turn off, and take rules of yours', async () => {
    const mine = { alert: 'Mine', expr: 'vector(1)', annotations: {} }
    const { groups } = await rulesOf({
      prometheusRule: {
        enabled: true,
        runbookUrl: 'https://docs.test/runbooks',
        disabled: ['PunctualScalingLimited'],
        rules: [mine],
      },
    })
    const [{ rules } = { rules: [] }] = groups
    expect(rules.map(({ alert }) => alert)).not.toContain('PunctualScalingLimited')
    expect(rules.at(-1)).toEqual(mine)
    expect(rules[0]?.annotations['runbook_url']).toBe('https://docs.test/runbooks#punctualdown')
    const unknown = { prometheusRule: { enabled: true, disabled: ['Nothing'] } }
    await expect(rendered(unknown)).rejects.toThrow(/there is no alert Nothing, but PunctualDown/)
  })
})

describe('monitors', () => {
  test('choose the port of the metrics, and name release and role', async () => {
    for (const kind of ['ServiceMonitor', 'PodMonitor']) {
      const key = kind === 'ServiceMonitor' ? 'serviceMonitor' : 'podMonitor'
      const objects = await rendered({ [key]: ON.serviceMonitor })
      const monitor = objects.find((one) => one.kind === kind)
      expect(monitor?.metadata.labels).toMatchObject({ release: 'prometheus' })
      const endpoints = monitor?.spec?.[kind === 'ServiceMonitor' ? 'endpoints' : 'podMetricsEndpoints']
      expect(endpoints).toEqual([
        {
          port: 'ops',
          path: '/metrics',
          interval: '15s',
          relabelings: [
            { targetLabel: 'job', replacement: 'punctual' },
            {
              sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_component'],
              targetLabel: 'component',
            },
          ],
        },
      ])
      const services = objects.filter(
        ({ kind: other, metadata }) => other === 'Service' && metadata.name === 'punctual-metrics',
      )
      expect(services).toHaveLength(kind === 'ServiceMonitor' ? 1 : 0)
    }
  })

  test('are none by default, and not two', async () => {
    const kinds = new Set((await rendered({})).map(({ kind }) => kind))
    for (const kind of ['ServiceMonitor', 'PodMonitor', 'PrometheusRule', 'ConfigMap']) {
      expect(kinds).not.toContain(kind)
    }
    const both = { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } }
    await expect(rendered(both)).rejects.toThrow(/enable serviceMonitor or podMonitor, not both/)
  })
})

describe('a real Prometheus', () => {
  const servers: Server[] = []
  afterAll(() => servers.forEach((server) => server.close()))

  beforeEach(({ skip }) => {
    const obstacle = prometheusObstacle()
    skip(obstacle !== null, obstacle ?? '')
  })

  test('takes the alerts, and each fires when it should', async () => {
    const rules = await rulesOf()
    const checked = await promtool(['check', 'rules', '--lint=all', '--lint-fatal', 'rules.yaml'], {
      'rules.yaml': rules,
    })
    expect(checked).toMatchObject({ isPleased: true, output: expect.stringContaining('rules found') })
    const tests = firingTests(rules.groups.flatMap((group) => group.rules))
    const tested = await promtool(['test', 'rules', 'tests.yaml'], {
      'rules.yaml': rules,
      'tests.yaml': tests,
    })
    expect(tested.isPleased, tested.output).toBe(true)
  })

  test('answers every query of the dashboards and of the alerts', { timeout: 180_000 }, async () => {
    const page = await healthyPage()
    const targets = await Promise.all(
      ['controller', 'api', 'executor'].map(async (component) => {
        const server = createServer((_, response) => {
          response.setHeader('content-type', page.contentType)
          response.end(page.body)
        })
        servers.push(server)
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
        const { port } = server.address() as AddressInfo
        return { address: `127.0.0.1:${port}`, labels: { ...NAMES, component, pod: `${component}-0` } }
      }),
    )
    const prometheus = await startPrometheus(targets)
    try {
      const filled = (expression: string) =>
        expression
          .replaceAll('$namespace', NAMES.namespace)
          .replaceAll('$job', NAMES.job)
          .replaceAll('$__rate_interval', '1m')
      for (const { board, title, targets: asked } of await panels()) {
        for (const { expr } of asked) {
          await until(
            `${board}, ${title} shows something for ${expr}`,
            async () => (await prometheus.query(filled(expr))).length > 0,
            60_000,
          )
        }
      }
      const { groups } = await rulesOf()
      const quiet = groups.flatMap(({ rules }) => rules)
      // A scrape that came late on a busy machine is a target that was down for a moment.
      for (const { alert, expr } of quiet)
        await expect.poll(() => prometheus.query(expr), { timeout: 30_000, message: alert }).toEqual([])
    } finally {
      await prometheus.stop()
    }
  })
})

const SELECTOR = `namespace="${NAMES.namespace}",job="${NAMES.job}"`
const series = (metric: string, values: string, labels = '') => ({
  series: `${metric}{${SELECTOR}${labels && `,${labels}`}}`,
  values,
})
const UP = ['controller', 'api', 'executor'].map((role) => series('up', '1x60', `component="${role}"`))
/** Of which all observations of the last bucket are slower than the others. */
const histogram = (metric: string, fast: string, slow: string) => [
  series(`${metric}_bucket`, fast, 'le="0.1"'),
  series(`${metric}_bucket`, slow, 'le="10"'),
  series(`${metric}_bucket`, slow, 'le="+Inf"'),
]
const watch = (pod: string, values: string) =>
  series(
    'punctual_kube_watch_last_event_timestamp_seconds',
    values,
    `component="controller",pod="${pod}",resource="httpqueues"`,
  )
const LATE = histogram('punctual_job_lateness_seconds', '0x60', '0+60x60')

/** An installation without a fault, with some work. */
const HEALTHY: readonly { series: string; values: string }[] = [
  ...UP,
  series('punctual_leader', '1x60', 'pod="a"'),
  series('punctual_leader', '0x60', 'pod="b"'),
  series('punctual_engine_held', '1x60', 'pod="a"'),
  series('punctual_engine_losses_total', '0x60', 'reason="EngineLost"'),
  series('punctual_redis_step_errors_total', '0x60', 'step="push"'),
  series('punctual_redis_step_duration_seconds_count', '0+100x60', 'step="push"'),
  ...histogram('punctual_redis_step_duration_seconds', '0+60x60', '0+60x60'),
  series('punctual_redis_risks', '0x60', 'risk="eviction"'),
  series('punctual_redis_memory_used_bytes', '800x60', 'server="a"'),
  series('punctual_redis_memory_max_bytes', '1000x60', 'server="a"'),
  series('punctual_redis_memory_used_bytes', '5000x60', 'server="unlimited"'),
  series('punctual_redis_memory_max_bytes', '0x60', 'server="unlimited"'),
  series('punctual_redis_evicted_keys_total', '3x60', 'server="a"'),
  series('punctual_http_requests_total', '0+100x60', 'route="/api/jobs",code="201"'),
  series('punctual_http_requests_total', '0+1x60', 'route="/api/jobs",code="503"'),
  ...histogram('punctual_http_request_duration_seconds', '0+60x60', '0+60x60'),
  ...histogram('punctual_job_lateness_seconds', '0+60x60', '0+60x60'),
  series('punctual_pushes_shed_total', '7x60', 'pod="a"'),
  series('punctual_oldest_startable_job_seconds', '20x60'),
  series('punctual_calls_in_flight', '2x60'),
  series('punctual_call_slots', '50x60'),
  series('punctual_executor_replicas_desired', '2x60'),
  series('punctual_executor_replicas_current', '2x60'),
  series('punctual_executor_replicas_ready', '2x60'),
  series('punctual_scaling_limited', '0x60'),
  series('punctual_leases_lost_total', '1x60'),
  series('punctual_clock_jumps_total', '0x60', 'direction="forward"'),
  series('punctual_jobs_set_aside_total', '1x60'),
  series('punctual_reconcile_errors_total', '2x60', 'controller="httpqueue"'),
  watch('a', '0+60x60'),
  watch('b', '0+60x60'),
  series('punctual_crons_over_quota', '0x60'),
  series('punctual_pushed_queues_waiting', '0x60'),
  series('punctual_notifications_total', '0+1x60', 'type="slack",outcome="sent"'),
  series('punctual_notifications_total', '0x60', 'type="slack",outcome="failed"'),
  series('punctual_set_aside_total', '0x60', 'kind="window"'),
  series('punctual_loops_failing', '0x60', 'component="executor",pod="a",loop="claim"'),
  series('nodejs_eventloop_lag_p99_seconds', '0.02x60', 'component="api",pod="a"'),
]

/** What each alert is about: these series instead of those of the same name, and the labels that it then has. */
const TROUBLES: Readonly<Record<string, readonly { series: string; values: string }[]>> = {
  PunctualDown: [series('up', '0x60', 'component="api"'), ...UP.filter((_, index) => index !== 1)],
  PunctualNoLeader: [series('punctual_leader', '0x60')],
  PunctualEngineNotHeld: [series('punctual_engine_held', '0x60')],
  PunctualEngineLost: [series('punctual_engine_losses_total', '0x30 1x30', 'reason="EngineLost"')],
  PunctualJobsLost: [series('punctual_redis_losses_total', '0x30 1x30', 'pod="a"')],
  PunctualRedisErrors: [series('punctual_redis_step_errors_total', '0+10x60', 'step="push"')],
  PunctualRedisSlow: histogram('punctual_redis_step_duration_seconds', '0x60', '0+60x60'),
  PunctualRedisUnsafe: [series('punctual_redis_risks', '1x60', 'risk="append_only_off"')],
  PunctualRedisMemoryHigh: [
    series('punctual_redis_memory_used_bytes', '900x60', 'server="a"'),
    series('punctual_redis_memory_used_bytes', '5000x60', 'server="unlimited"'),
  ],
  PunctualRedisEvicting: [series('punctual_redis_evicted_keys_total', '0x30 7x30', 'server="a"')],
  PunctualApiErrors: [
    series('punctual_http_requests_total', '0+90x60', 'route="/api/jobs",code="201"'),
    series('punctual_http_requests_total', '0+10x60', 'route="/api/jobs",code="503"'),
  ],
  PunctualApiSlow: histogram('punctual_http_request_duration_seconds', '0x60', '0+60x60'),
  PunctualPushesRefused: [series('punctual_pushes_shed_total', '0+30x60', 'pod="a"')],
  PunctualJobsLate: [...LATE, series('punctual_calls_in_flight', '48x60')],
  PunctualJobsWaiting: [series('punctual_oldest_startable_job_seconds', '600x60')],
  PunctualNoExecutors: UP.filter((_, index) => index !== 2),
  PunctualScalingLimited: [series('punctual_scaling_limited', '1x60')],
  PunctualExecutorsMissing: [series('punctual_executor_replicas_ready', '1x60')],
  PunctualLeasesLost: [series('punctual_leases_lost_total', '0+1x60')],
  PunctualLoopFailing: [
    series('punctual_loops_failing', '0x30 1x30', 'component="executor",pod="a",loop="claim"'),
  ],
  PunctualSetAside: [series('punctual_set_aside_total', '0x30 1x30', 'kind="window"')],
  PunctualClockJumped: [series('punctual_clock_jumps_total', '0x30 1x30', 'direction="forward"')],
  PunctualClockBehind: [series('punctual_clock_behind_seconds', '3600x60')],
  PunctualDamagedJobs: [series('punctual_jobs_set_aside_total', '0x30 1x30')],
  PunctualReconcileErrors: [series('punctual_reconcile_errors_total', '0+1x60', 'controller="httpqueue"')],
  PunctualWatchSilent: [watch('a', '0x60'), watch('b', '0+60x60')],
  PunctualQuotaReached: [series('punctual_crons_over_quota', '3x60')],
  // The probe is claimed a moment after the breaker lets it: a count may fall between.
  PunctualCircuitOpen: [
    series('punctual_queues_throttled', '2x20 0 2x20', 'reason="circuit_open"'),
    series('punctual_queues_throttled', '0x60', 'reason="rate_limited"'),
  ],
  PunctualNotificationsFailing: [
    series('punctual_notifications_total', '0x30 1x30', 'type="slack",outcome="failed"'),
  ],
  PunctualEventLoopBlocked: [series('nodejs_eventloop_lag_p99_seconds', '2x60', 'component="api",pod="a"')],
}

/** Further ways to the same trouble: its other half, or a process that is first scraped after it. */
const FURTHER_TROUBLES: typeof TROUBLES = {
  PunctualDown: UP.filter((_, index) => index !== 0),
  PunctualEngineLost: [series('punctual_engine_losses_total', '_x30 1x30', 'reason="EngineLost",pod="new"')],
  PunctualJobsLost: [series('punctual_redis_losses_total', '_x30 1x30', 'pod="new"')],
  PunctualClockBehind: [series('punctual_clock_held_seconds', '3600x60')],
  PunctualDamagedJobs: [series('punctual_jobs_set_aside_total', '_x30 2x30', 'pod="new"')],
  PunctualSetAside: [series('punctual_set_aside_total', '_x30 2x30', 'kind="window",pod="new"')],
  PunctualQuotaReached: [series('punctual_pushed_queues_waiting', '3x60')],
}

/** What looks like trouble and is none, or is that of another alert: a queue's own limit, full executors, a short burst, a rate. */
const HARMLESS: typeof TROUBLES = {
  PunctualJobsLate: LATE,
  PunctualJobsWaiting: [
    series('punctual_oldest_startable_job_seconds', '600x60'),
    series('punctual_calls_in_flight', '48x60'),
  ],
  PunctualPushesRefused: [series('punctual_pushes_shed_total', '0x36 0+30x24', 'pod="a"')],
  PunctualCircuitOpen: [series('punctual_queues_throttled', '3x60', 'reason="rate_limited"')],
}

/** Tests of promtool: the trouble of an alert fires it, 40 minutes later, and health does not. */
function firingTests(rules: readonly Rule[]): object {
  const name = ({ series: text }: { readonly series: string }) => text.slice(0, text.indexOf('{'))
  const expectation = (alert: string, isFiring: boolean) => ({
    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
    eval_time: '40m',
    exp_samples: isFiring ? [{ value: 1 }] : [],
  })
  const test = (
    alert: string,
    isFiring: boolean,
    given: readonly { series: string; values: string }[] = [],
  ) => ({
    name: `${alert} ${isFiring ? 'fires' : 'is quiet'}`,
    interval: '1m',
    input_series: [...HEALTHY.filter((one) => !given.some((other) => name(other) === name(one))), ...given],
    promql_expr_test: [expectation(alert, isFiring)],
  })
  const healthy = {
    name: 'all are quiet when nothing is wrong',
    interval: '1m',
    input_series: HEALTHY,
    promql_expr_test: rules.map(({ alert }) => expectation(alert, false)),
  }
  const all = (given: typeof TROUBLES, isFiring: boolean) =>
    Object.entries(given).map(([alert, trouble]) => test(alert, isFiring, trouble))
  return {
    rule_files: ['rules.yaml'],
    evaluation_interval: '1m',
    tests: [
      ...rules.map(({ alert }) => test(alert, true, TROUBLES[alert])),
      healthy,
      ...all(FURTHER_TROUBLES, true),
      ...all(HARMLESS, false),
    ],
  }
}
