import type { Exemplars } from './exemplars.ts'

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

const OPEN_METRICS = 'application/openmetrics-text'
const PLAIN_TEXT = 'text/plain'
const TOTAL = /_total$/

/**
 * Whether a scraper wants OpenMetrics at least as much as the Prometheus text format. Both are named: a browser's or
 * curl's "anything" is answered with the text format, as before.
 */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const open = weightOf(accept, OPEN_METRICS)
  return open > 0 && open >= weightOf(accept, PLAIN_TEXT)
}

/** The largest weight that the header gives to the type; 0 = it is not named, or refused. */
function weightOf(accept: string, type: string): number {
  let weight = 0
  for (const range of accept.toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim())
    if (name !== type) continue
    const given = parameters.find((parameter) => parameter.startsWith('q='))
    const quality = given === undefined ? 1 : Number(given.slice(2))
    if (quality > weight) weight = quality
  }
  return weight
}

/** The same series in the format of OpenMetrics, with their exemplars. @param text in the Prometheus text format */
export function openMetricsOf(text: string, exemplars: Exemplars): string {
  const families = text.trimEnd().split('\n\n')
  return `${families.map((family) => familyOf(family, exemplars)).join('\n')}\n# EOF\n`
}

/** A family's name is without the `_total` of its counters, and a quote in its help is escaped. */
function familyOf(family: string, exemplars: Exemplars): string {
  const isCounter = /^# TYPE \S+ counter$/m.test(family)
  const lines = family.split('\n').map((line) => {
    if (!line.startsWith('# ')) return line.includes('_bucket{') ? withExemplar(line, exemplars) : line
    const [mark, word = '', name = '', ...rest] = line.split(' ')
    const plain = isCounter ? name.replace(TOTAL, '') : name
    const said = rest.join(' ')
    return [mark, word, plain, word === 'HELP' ? said.replaceAll('"', '\\"') : said].join(' ')
  })
  return lines.join('\n')
}

function withExemplar(line: string, exemplars: Exemplars): string {
  return `${line}${exemplars.after(line.slice(0, line.lastIndexOf(' ')))}`
}
