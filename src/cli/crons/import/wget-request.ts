import { parseArgs } from 'node:util'
import type { GivenRequest } from './request.ts'
import { NotTaken } from './not-taken.ts'

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const

/** The options of wget, BusyBox' among them, that are understood. */
const OPTIONS = {
  header: { type: 'string', multiple: true },
  'post-data': TEXT,
  'body-data': TEXT,
  method: TEXT,
  'user-agent': { ...TEXT, short: 'U' },
  user: TEXT,
  password: TEXT,
  timeout: { ...TEXT, short: 'T' },
  tries: { ...TEXT, short: 't' },
  quiet: { ...FLAG, short: 'q' },
  verbose: { ...FLAG, short: 'v' },
  spider: FLAG,
  'no-check-certificate': FLAG,
  'output-document': { ...TEXT, short: 'O' },
  'output-file': { ...TEXT, short: 'o' },
  'server-response': { ...FLAG, short: 'S' },
  'content-on-error': FLAG,
} as const

/** @param words those behind `wget` */
export function requestOfWget(words: readonly string[]): GivenRequest {
  const { values, positionals } = parsed(words)
  const [url, ...others] = positionals
  if (url === undefined) throw new NotTaken('its wget has no URL')
  if (others.length > 0) throw new NotTaken(`its wget has more than one URL: ${url} and ${others.join(' ')}`)
  if (values.spider === true) throw new NotTaken('its wget sends HEAD, which no cron does')
  const tries = numberOf('--tries', values.tries)
  const body = values['post-data'] ?? values['body-data'] ?? null
  const headers = (values.header ?? []).map(headerOf)
  const names = new Set(headers.map(([name]) => name.toLowerCase()))
  if (values['user-agent'] !== undefined) headers.push(['User-Agent', values['user-agent']])
  if (body !== null && !names.has('content-type'))
    headers.push(['Content-Type', 'application/x-www-form-urlencoded'])
  return {
    url,
    method: values.method ?? null,
    headers,
    body,
    login: values.user === undefined ? null : `${values.user}:${values.password ?? ''}`,
    timeoutSeconds: numberOf('--timeout', values.timeout),
    retries: tries === null ? null : Math.max(0, tries - 1),
    notes: [
      'A redirect is not followed: name the address it leads to.',
      ...(values['no-check-certificate'] === true
        ? ['The certificate of the target is checked, which --no-check-certificate left out.']
        : []),
    ],
  }
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true, strict: true })
  } catch (fault) {
    const [first = ''] = (fault instanceof Error ? fault.message : String(fault)).split('. ')
    throw new NotTaken(`its wget has an option that no cron has: ${first}`)
  }
}

function headerOf(given: string): readonly [string, string] {
  const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/s.exec(given) ?? []
  if (name === '') throw new NotTaken(`its wget has the header "${given}", which has no name`)
  return [name.trim(), value.trim()]
}

function numberOf(option: string, given: string | undefined): number | null {
  if (given === undefined) return null
  const number = Math.ceil(Number(given))
  if (Number.isFinite(number) && number >= 0) return number
  throw new NotTaken(`its wget has ${option} ${given}, which is no number`)
}
