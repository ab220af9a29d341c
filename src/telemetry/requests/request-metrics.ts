import type { Counter, Registry } from 'prom-client'
import type { RequestMetrics } from '../../ports/metrics.ts'
import type { Exemplars } from '../open-metrics/exemplars.ts'

/** Upper bounds of the buckets: a push takes milliseconds, a search up to seconds. */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'])
const OTHER = 'other'
const DURATION = 'punctual_http_request_duration_seconds'

/** Answers to one method of one route. */
class Tally {
  readonly codes = new Map<number, number>()
  /** Count of each bucket alone, the last being beyond them all. */
  readonly buckets = new Float64Array(REQUEST_SECONDS.length + 1)
  readonly #seconds = new Float64Array(1)

  get seconds(): number {
    return this.#seconds[0] ?? 0
  }

  add(code: number, seconds: number | null): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
    if (seconds === null) return
    const bucket = bucketOf(seconds)
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1
    this.#seconds[0] = this.seconds + seconds
  }
}

function bucketOf(seconds: number): number {
  let bucket = 0
  while (bucket < REQUEST_SECONDS.length && seconds > (REQUEST_SECONDS[bucket] ?? 0)) bucket += 1
  return bucket
}

/**
 * The series of an API. They are counted here and written when they are scraped, because prom-client makes a text of the
 * labels each time it counts: no push shall pay for that.
 */
export function createRequestMetrics(registry: Registry, exemplars?: Exemplars): RequestMetrics {
  const tallies = new Map<string, Map<string, Tally>>()
  const tallyOf = (method: string, route: string): Tally => {
    let ofRoute = tallies.get(route)
    if (ofRoute === undefined) tallies.set(route, (ofRoute = new Map()))
    const known = METHODS.has(method) ? method : OTHER
    let tally = ofRoute.get(known)
    if (tally === undefined) ofRoute.set(known, (tally = new Tally()))
    return tally
  }
  register(registry, {
    name: 'punctual_http_requests_total',
    type: 'counter',
    help: 'Requests to the API, by route and status code; code "none" if the client left without a response.',
    labelNames: ['method', 'route', 'code'],
    values: () =>
      everyTally(tallies).flatMap(({ tally, labels }) =>
        [...tally.codes].map(([code, value]) => ({
          labels: { ...labels, code: code === 0 ? 'none' : String(code) },
          value,
        })),
      ),
  })
  register(registry, {
    name: DURATION,
    type: 'histogram',
    help: 'From the head of a request to the end of its response, without streams.',
    labelNames: ['method', 'route'],
    values: (name) => everyTally(tallies).flatMap(({ tally, labels }) => histogramOf(name, labels, tally)),
  })
  let shed = 0
  register(registry, {
    name: 'punctual_pushes_shed_total',
    type: 'counter',
    help: 'Pushes refused with 503 because more come than this process can take.',
    labelNames: [],
    values: () => [{ labels: {}, value: shed }],
  })
  return {
    answered: (method, route, code, seconds, trace) => {
      tallyOf(method, route).add(code ?? 0, seconds)
      if (trace === undefined || seconds === null) return
      const le = REQUEST_SECONDS[bucketOf(seconds)] ?? '+Inf'
      const known = METHODS.has(method) ? method : OTHER
      exemplars?.note(`${DURATION}_bucket{le="${le}",method="${known}",route="${route}"}`, seconds, trace)
    },
    pushShed: () => {
      shed += 1
    },
  }
}

type Labels = Readonly<Record<string, string | number>>

interface Value {
  readonly labels: Labels
  readonly value: number
  readonly metricName?: string
}

function everyTally(tallies: ReadonlyMap<string, ReadonlyMap<string, Tally>>) {
  return [...tallies].flatMap(([route, ofRoute]) =>
    [...ofRoute].map(([method, tally]) => ({ tally, labels: { method, route } })),
  )
}

function histogramOf(name: string, labels: Labels, { buckets, seconds }: Tally): readonly Value[] {
  let count = 0
  const cumulated = [...buckets].map((value, at): Value => {
    count += value
    return {
      labels: { le: REQUEST_SECONDS[at] ?? '+Inf', ...labels },
      value: count,
      metricName: `${name}_bucket`,
    }
  })
  return count === 0
    ? []
    : [
        ...cumulated,
        { labels, value: seconds, metricName: `${name}_sum` },
        { labels, value: count, metricName: `${name}_count` },
      ]
}

interface CountedHere {
  readonly name: string
  readonly type: 'counter' | 'histogram'
  readonly help: string
  readonly labelNames: readonly string[]
  values(name: string): readonly Value[]
}

/** A registry asks no more of a metric than its name and what it is at a scrape. */
function register(registry: Registry, { values, ...metric }: CountedHere): void {
  const made = {
    ...metric,
    get: () => Promise.resolve({ ...metric, aggregator: 'sum', values: values(metric.name) }),
  }
  registry.registerMetric(made as unknown as Counter)
}
