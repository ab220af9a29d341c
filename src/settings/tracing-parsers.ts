import { found, refused, type Parser } from './parsers.ts'

/** The forms of values that OpenTelemetry's variables have and ours do not. */

const PAIRS_MAX = 64
const PAIR_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z/-]{1,256}$/
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/

export const parseBoolean: Parser<boolean> = (text) =>
  /^(?:true|false)$/i.test(text) ? found(text.toLowerCase() === 'true') : refused('true or false')

export const parseProtocol: Parser<string> = (text) =>
  text === 'http/protobuf'
    ? found(text)
    : refused('http/protobuf, the one protocol that Punctual speaks, at port 4318 of most collectors')

export const parseRatio: Parser<number> = (text) => {
  const value = /^(?:[01]?\.)?[0-9]{1,12}(?:e-[0-9]{1,2})?$/i.test(text) ? Number(text) : -1
  return value >= 0 && value <= 1 ? found(value) : refused('a number from 0 to 1')
}

export const parseEndpoint: Parser<string> = (text) => {
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return url !== null && isHttp && isPlain
    ? found(url.href)
    : refused('a URL such as http://collector:4318, without a user, a query or a fragment')
}

export const parseHeaders: Parser<Record<string, string>> = (text) => {
  const pairs = pairsOf(text, HEADER_NAME)
  const isSound = pairs !== null && Object.values(pairs).every((value) => /^[\t\x20-\x7e]*$/.test(value))
  return isSound ? found(pairs) : refused('headers such as api-key=abc,team=x, their values percent-encoded')
}

export const parseAttributes: Parser<Record<string, string>> = (text) => {
  const pairs = pairsOf(text, PAIR_NAME)
  return pairs === null
    ? refused('attributes such as deployment.environment=prod,team=x, their values percent-encoded')
    : found(pairs)
}

/** Reads `a=b,c=d`; null when it has another form. */
function pairsOf(text: string, nameForm: RegExp): Record<string, string> | null {
  const parts = text.split(',').filter((part) => part.trim() !== '')
  if (parts.length > PAIRS_MAX) return null
  const pairs: Array<readonly [string, string]> = []
  for (const part of parts) {
    const at = part.indexOf('=')
    const name = part.slice(0, at).trim()
    if (at === -1 || !nameForm.test(name)) return null
    try {
      pairs.push([name, decodeURIComponent(part.slice(at + 1).trim())])
    } catch {
      return null
    }
  }
  return Object.fromEntries(pairs)
}
