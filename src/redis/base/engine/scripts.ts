import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { FIELDS } from '../layout/fields.ts'
import type { RowShape, Step, StepShape } from './step.ts'

/** One step as Redis runs it: the Lua file, with what it includes and the names that its description gives. */
export interface Script {
  readonly name: string
  readonly source: string
  readonly sha: string
}

/** Tests put a wrapper around the source: declared keys only, a set clock, a fault at a call. */
export type Rewrite = (source: string, name: string) => string

/** Throws when the Lua file says a name that neither its description nor the fields of the layout know. */
export function loadScript(
  { name, url, shape }: Pick<Step, 'name' | 'url' | 'shape'>,
  rewrite: Rewrite,
): Script {
  const text = withIncludes(readFileSync(url, 'utf8'))
  const source = rewrite(withNames(text, { name, shape }), name)
  return { name, source, sha: createHash('sha1').update(source).digest('hex') }
}

/** `--#include base/lib/clock`, a path from `src/redis`. */
export function withIncludes(source: string): string {
  return source.replace(/^--#include ([\w/-]+)$/gm, (_, path: string) =>
    readFileSync(new URL(`../../${path}.lua`, import.meta.url), 'utf8'),
  )
}

/**
 * Puts constants in place of names, so that they cost nothing when the step runs: `KEYS.ring` becomes `KEYS[4]`,
 * `ARGV.leaseMs` `ARGV[1]`, `QUEUE.active` `'a'`. `local queues = ROWS.queues` becomes the loop that reads them. Where
 * most rows are not needed, `ROWS.queues.count` and `ROWS.queues[index].meta` read the last group piece by piece. Lines
 * keep their numbers.
 */
export function withNames(source: string, { name, shape }: { name: string; shape: StepShape }): string {
  const unknown = (what: string) => new Error(`${name}.lua: ${what} is not in its description`)
  const place = (list: readonly string[], word: string, what: string): number => {
    const at = list.indexOf(word)
    if (at === -1) throw unknown(what)
    return at + 1
  }
  const keys = keyNames(shape)
  const args = shape.args ?? []
  const groups = Object.keys(shape.rows ?? {})
  let read = 0
  const named = source
    .replace(/\bKEYS\.(\w+)/g, (what, word: string) => `KEYS[${place(keys, word, what)}]`)
    .replace(/\bARGV\.(\w+)/g, (what, word: string) => `ARGV[${place(args, word, what)}]`)
    .replace(
      new RegExp(`\\b(${Object.keys(FIELDS).join('|')})\\.(\\w+)`, 'g'),
      (what, table: string, word: string) => {
        const field = (FIELDS as Readonly<Record<string, Readonly<Record<string, string>>>>)[table]?.[word]
        if (field === undefined) throw unknown(what)
        return `'${field}'`
      },
    )
    .replace(
      /\blocal (\w+) = ROWS\.(\w+)(\.count)?$/gm,
      (what, local: string, group: string, count?: string) => {
        if (groups[read] !== group) throw new Error(`${name}.lua: ${what} comes out of order`)
        read += 1
        return count === undefined ? readRows(local, shape.rows?.[group] as RowShape) : readCount(local)
      },
    )
    .replace(/\bROWS\.(\w+)\[(\w+)\]\.(\w+)/g, (what, group: string, index: string, word: string) => {
      const rows = shape.rows?.[group]
      // Its keys are the last ones: `key_at` stands before them once all other rows have been read.
      if (rows === undefined || group !== groups.at(-1)) throw unknown(what)
      const names = keyNames(rows)
      return `KEYS[key_at + (${index} - 1) * ${names.length} + ${place(names, word, what)}]`
    })
  if (read < groups.length) throw new Error(`${name}.lua: ROWS.${groups[read]} is never read`)
  if (groups.length === 0 && shape.rest === undefined) return named
  return named.replace('\n', `\n${cursors(args.length, keys.length, named)} `)
}

function keyNames({ keys = [], queueKeys = [] }: RowShape): readonly string[] {
  return [...keys, ...queueKeys]
}

/**
 * Declares the cursors at the first row, which `readRows` moves on; what follows the rows is read from `arg_at`, or by
 * `next_arg`.
 */
function cursors(args: number, keys: number, source: string): string {
  const nextArg = 'local function next_arg() arg_at = arg_at + 1 return ARGV[arg_at] end'
  return `local arg_at, key_at = ${args}, ${keys}${/\bnext_arg\(\)/.test(source) ? ` ${nextArg}` : ''}`
}

/** The Lua file reads the arguments of these rows itself, by `next_arg`, and single keys of them by index, from 1. */
function readCount(local: string): string {
  return `local ${local} = tonumber(ARGV[arg_at + 1]) arg_at = arg_at + 1`
}

/** Lua that reads a count and that many rows into tables, as long as the hand would write it. */
function readRows(rows: string, shape: RowShape): string {
  const keys = keyNames(shape)
  const args = shape.args ?? []
  const fields = [
    ...keys.map((key, i) => `${key} = KEYS[k + ${i + 1}]`),
    ...args.map((arg, i) => `${arg} = ARGV[a + ${i + 1}]`),
  ]
  return [
    `local ${rows} = {} for i = 1, tonumber(ARGV[arg_at + 1]) do`,
    `local k, a = key_at + (i - 1) * ${keys.length}, arg_at + 1 + (i - 1) * ${args.length}`,
    `${rows}[i] = { ${fields.join(', ')} } end`,
    `arg_at, key_at = arg_at + 1 + #${rows} * ${args.length}, key_at + #${rows} * ${keys.length}`,
  ].join(' ')
}
