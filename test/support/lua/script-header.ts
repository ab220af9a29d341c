import { readFileSync } from 'node:fs'
import { STEPS, type StepName } from '../../../src/redis/steps.ts'

/** The comment at the head of a script. */
export interface ScriptHeader {
  /** Which of its parts are there, in order. */
  readonly parts: readonly string[]
  /** Words for each fixed key, KEYS[1] first; those that come as often as there is something to name are left out. */
  readonly keys: readonly string[]
}

const FOLDER = '../../../src/redis/'
/** A part goes on in lines that are indented. */
const PART = /^-- (KEYS|ARGV|Answer):?(.*(?:\n-- {2,}.*)*)/gm
/** `1 clk`, or `12–15 (q r b a)` for four at once; two blanks or a `then` end it. */
const KEY = /(\d+)(?:–(\d+))? (.*?)(?= {2,}|,|$)/g

export function readScriptHeader(name: StepName): ScriptHeader {
  const described = STEPS.find((step) => step.name === name)
  if (described === undefined) throw new Error(`no such step: ${name}`)
  const text = readFileSync(described.url, 'utf8')
  const parts = [...text.matchAll(PART)].map(([, part = '', body = '']) => ({ part, body }))
  const said = parts.find(({ part }) => part === 'KEYS')?.body ?? ''
  const shared = /as in ([\w/]+\.lua)/.exec(said)?.[1]
  const keys = shared === undefined ? said : ([...read(shared).matchAll(PART)][0]?.[2] ?? '')
  return { parts: parts.map(({ part }) => part), keys: keyWords(keys) }
}

function read(path: string): string {
  return readFileSync(new URL(FOLDER + path, import.meta.url), 'utf8')
}

function keyWords(text: string): string[] {
  const [fixed = ''] = text.replaceAll('\n--', ' ').split(/,? {1,2}then /)
  const words: string[] = []
  for (const [, first, last, what = ''] of fixed.matchAll(KEY)) {
    const several = last === undefined ? [what.trim()] : what.slice(1, what.indexOf(')')).split(' ')
    if (Number(first) !== words.length + 1) throw new Error(`KEYS ${first} comes out of order in: ${text}`)
    words.push(...several)
    if (last !== undefined && Number(last) !== words.length)
      throw new Error(`KEYS ${first}–${last} names another count`)
  }
  return words
}
