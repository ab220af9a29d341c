import type { Scripts } from '../../../src/redis/steps.ts'
import { compileLua, type LuaScript } from './lua-compiler.ts'
import { LuaTable } from './lua-runtime.ts'
import { isBetween, matcher, range } from './redis-ranges.ts'
import { decode, encode, fromLua, toLua, toWord, type Reply } from './redis-values.ts'
import { SortedSet } from './sorted-set.ts'

type Value =
  | { readonly kind: 'hash'; readonly hash: Map<string, string> }
  | { readonly kind: 'list'; readonly list: string[] }
  | { readonly kind: 'set'; readonly set: Set<string> }
  | { readonly kind: 'zset'; readonly zset: SortedSet }
  | { readonly kind: 'string'; text: string }

type Words = readonly string[]

const compiled = new Map<string, LuaScript>()

/**
 * A Redis in memory, with the commands that the engine and its scripts use and no others. The scripts run unchanged.
 */
export class MemoryRedis {
  readonly #keys = new Map<string, Value>()
  readonly #expiries = new Map<string, number>()
  readonly #scripts: ReadonlyMap<string, LuaScript>
  readonly #names: ReadonlyMap<string, string>
  readonly #nowMs: () => number
  readonly #random: () => number
  readonly #commands: ReadonlyMap<string, (words: Words) => Reply>

  constructor(options: { scripts: Scripts; nowMs: () => number; random: () => number }) {
    const { scripts } = options
    this.#nowMs = options.nowMs
    this.#random = options.random
    this.#scripts = new Map(Object.values(scripts).map(({ sha, source }) => [sha, scriptOf(sha, source)]))
    this.#names = new Map(Object.values(scripts).map(({ sha, name }) => [sha, name]))
    this.#commands = new Map(
      Object.entries({
        ...this.#keyCommands(),
        ...this.#hashCommands(),
        ...this.#hashReads(),
        ...this.#listCommands(),
        ...this.#streamCommands(),
        ...this.#setCommands(),
        ...this.#zsetCommands(),
        ...this.#zsetReads(),
      }),
    )
  }

  /** Runs one command. Throws the error that Redis would reply with. */
  run(name: string, words: Words): Reply {
    if (name === 'evalsha') return this.#evaluate(words)
    return decode(this.#execute(name, words.map(encode)))
  }

  /** The name of the script that an `evalsha` runs. */
  scriptName(sha: string): string {
    return this.#names.get(sha) ?? '?'
  }

  /** Every key with its value, in no particular order. */
  dump(): Record<string, unknown> {
    const all: Record<string, unknown> = {}
    for (const [key, value] of this.#keys) {
      if (value.kind === 'hash') {
        all[key] = Object.fromEntries([...value.hash].map(([field, text]) => [field, decode(text)]))
      } else if (value.kind === 'list') all[key] = value.list.map(decode)
      else if (value.kind === 'set') all[key] = [...value.set].toSorted((a, b) => (a < b ? -1 : 1))
      else if (value.kind === 'zset') {
        all[key] = value.zset.entries().map(({ member, score }) => [member, score])
      } else all[key] = decode(value.text)
    }
    return all
  }

  hasKey(pattern: RegExp): boolean {
    for (const key of this.#keys.keys()) if (pattern.test(key)) return true
    return false
  }

  #evaluate([sha = '', count = '', ...words]: Words): Reply {
    const script = this.#scripts.get(sha)
    if (script === undefined) throw new Error('NOSCRIPT No matching script.')
    const keys = words.slice(0, Number(count))
    const args = words.slice(Number(count)).map(encode)
    const answer = script(keys, args, (name, ...given) => {
      if (name === 'TIME') return this.#time()
      // Memory is unlimited.
      if (name === 'INFO') return '\nmaxmemory:0\n'
      return toLua(this.#execute(String(name).toLowerCase(), given.map(toWord)))
    })
    return decode(fromLua(answer))
  }

  #time(): LuaTable {
    const now = this.#nowMs()
    const ms = Math.floor(now)
    const micros = (ms % 1000) * 1000 + Math.floor((now - ms) * 1000)
    return new LuaTable([String(Math.floor(ms / 1000)), String(micros)])
  }

  #execute(name: string, words: Words): Reply {
    const command = this.#commands.get(name)
    if (command === undefined) throw new Error(`ERR unknown command '${name}'`)
    return command(words)
  }

  #find(key: string): Value | undefined {
    const expiry = this.#expiries.get(key)
    if (expiry !== undefined && expiry <= this.#nowMs()) this.#drop(key)
    return this.#keys.get(key)
  }

  #drop(key: string): boolean {
    this.#expiries.delete(key)
    return this.#keys.delete(key)
  }

  /** The value of a key, which must be of this kind; created by `make` when it is missing. */
  #of<Kind extends Value['kind']>(
    kind: Kind,
    key: string,
    make?: () => Extract<Value, { kind: Kind }>,
  ): Extract<Value, { kind: Kind }> | undefined {
    const found = this.#find(key)
    if (found === undefined && make !== undefined) {
      const made = make()
      this.#keys.set(key, made)
      return made
    }
    if (found !== undefined && found.kind !== kind) {
      throw new Error('WRONGTYPE Operation against a key holding the wrong kind of value')
    }
    return found as Extract<Value, { kind: Kind }> | undefined
  }

  #hash = (key: string) => this.#of('hash', key)?.hash
  #list = (key: string) => this.#of('list', key)?.list
  #zset = (key: string) => this.#of('zset', key)?.zset
  #makeHash = (key: string) =>
    this.#of('hash', key, () => ({ kind: 'hash', hash: new Map() }))?.hash as Map<string, string>
  #makeList = (key: string) => this.#of('list', key, () => ({ kind: 'list', list: [] }))?.list as string[]
  #makeZset = (key: string) =>
    this.#of('zset', key, () => ({ kind: 'zset', zset: new SortedSet() }))?.zset as SortedSet

  #keyCommands() {
    return {
      ping: () => 'PONG',
      get: ([key = '']: Words) => this.#of('string', key)?.text ?? null,
      set: ([key = '', text = '']: Words) => {
        this.#keys.set(key, { kind: 'string', text })
        return 'OK'
      },
      setnx: ([key = '', text = '']: Words) => {
        if (this.#find(key) !== undefined) return 0
        this.#keys.set(key, { kind: 'string', text })
        return 1
      },
      del: (keys: Words) => keys.filter((key) => this.#drop(key)).length,
      unlink: (keys: Words) => keys.filter((key) => this.#drop(key)).length,
      exists: (keys: Words) => keys.filter((key) => this.#find(key) !== undefined).length,
      rename: ([from = '', to = '']: Words) => {
        const value = this.#find(from)
        if (value === undefined) throw new Error('ERR no such key')
        this.#drop(from)
        this.#keys.set(to, value)
        return 'OK'
      },
      expireat: ([key = '', seconds = '']: Words) => {
        if (this.#find(key) === undefined) return 0
        this.#expiries.set(key, Number(seconds) * 1000)
        return 1
      },
      pexpire: ([key = '', ms = '']: Words) => {
        if (this.#find(key) === undefined) return 0
        this.#expiries.set(key, this.#nowMs() + Number(ms))
        return 1
      },
      ttl: ([key = '']: Words) => {
        if (this.#find(key) === undefined) return -2
        const expiry = this.#expiries.get(key)
        return expiry === undefined ? -1 : Math.ceil((expiry - this.#nowMs()) / 1000)
      },
      scan: ([, , glob = '*']: Words) => ['0', [...this.#keys.keys()].filter(matcher(glob))],
    }
  }

  #hashCommands() {
    const set = (key: string, pairs: Words): number => {
      const hash = this.#makeHash(key)
      const before = hash.size
      for (let i = 0; i < pairs.length; i += 2) hash.set(pairs[i] as string, pairs[i + 1] as string)
      return hash.size - before
    }
    return {
      hset: ([key = '', ...pairs]: Words) => set(key, pairs),
      hsetnx: ([key = '', field = '', text = '']: Words) =>
        this.#hash(key)?.has(field) === true ? 0 : set(key, [field, text]),
      hdel: ([key = '', ...fields]: Words) => {
        const hash = this.#hash(key)
        const count = fields.filter((field) => hash?.delete(field)).length
        if (hash?.size === 0) this.#drop(key)
        return count
      },
      hincrby: ([key = '', field = '', by = '']: Words) => {
        const sum = Number(this.#hash(key)?.get(field) ?? 0) + Number(by)
        if (!Number.isSafeInteger(sum)) throw new Error('ERR hash value is not an integer')
        set(key, [field, String(sum)])
        return sum
      },
    }
  }

  #hashReads() {
    const flat = (key: string) => [...(this.#hash(key) ?? [])].flat()
    return {
      hget: ([key = '', field = '']: Words) => this.#hash(key)?.get(field) ?? null,
      hmget: ([key = '', ...fields]: Words) => {
        const hash = this.#hash(key)
        return fields.map((field) => hash?.get(field) ?? null)
      },
      hgetall: ([key = '']: Words) => flat(key),
      hkeys: ([key = '']: Words) => [...(this.#hash(key)?.keys() ?? [])],
      hlen: ([key = '']: Words) => this.#hash(key)?.size ?? 0,
      hexists: ([key = '', field = '']: Words) => (this.#hash(key)?.has(field) === true ? 1 : 0),
      hstrlen: ([key = '', field = '']: Words) => this.#hash(key)?.get(field)?.length ?? 0,
      hscan: ([key = '', , ...options]: Words) => {
        const glob = options[options.indexOf('MATCH') + 1] ?? '*'
        const matches = options.includes('MATCH') ? matcher(glob) : () => true
        return ['0', [...(this.#hash(key) ?? [])].filter(([field]) => matches(field)).flat()]
      },
      hrandfield: ([key = '', count = '1', values]: Words) => {
        const entries = this.#shuffled([...(this.#hash(key) ?? [])]).slice(0, Number(count))
        return values === undefined ? entries.map(([field]) => field) : entries.flat()
      },
    }
  }

  #shuffled<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i -= 1) {
      const j = Math.floor(this.#random() * (i + 1))
      ;[items[i], items[j]] = [items[j] as T, items[i] as T]
    }
    return items
  }

  #listCommands() {
    return {
      rpush: ([key = '', ...items]: Words) => this.#makeList(key).push(...items),
      lpush: ([key = '', ...items]: Words) => this.#makeList(key).unshift(...items.toReversed()),
      rpop: ([key = '']: Words) => {
        const list = this.#list(key)
        const last = list?.pop() ?? null
        if (list?.length === 0) this.#drop(key)
        return last
      },
      llen: ([key = '']: Words) => this.#list(key)?.length ?? 0,
      lindex: ([key = '', at = '']: Words) => this.#list(key)?.at(Number(at)) ?? null,
      lset: ([key = '', at = '', item = '']: Words) => {
        const list = this.#list(key)
        if (list?.[Number(at)] === undefined) throw new Error('ERR index out of range')
        list[Number(at)] = item
        return 'OK'
      },
      lpos: ([key = '', item = '']: Words) => {
        const at = this.#list(key)?.indexOf(item) ?? -1
        return at === -1 ? null : at
      },
      lrange: ([key = '', from = '', to = '']: Words) => {
        const list = this.#list(key) ?? []
        return list.slice(...range(list.length, Number(from), Number(to)))
      },
      ltrim: ([key = '', from = '', to = '']: Words) => {
        const list = this.#list(key)
        if (list === undefined) return 'OK'
        const kept = list.slice(...range(list.length, Number(from), Number(to)))
        list.length = 0
        list.push(...kept)
        if (list.length === 0) this.#drop(key)
        return 'OK'
      },
    }
  }

  /** Just what the audit log needs; an entry is its id and its text. */
  #streamCommands() {
    const entries = (key: string) =>
      this.#of('list', key, () => ({ kind: 'list', list: [] }))?.list as string[]
    return {
      xadd: ([key = '', id = '', , text = '']: Words) => {
        const list = entries(key)
        const ms = Number.parseInt(id)
        list.push(`${ms}-${list.filter((entry) => Number.parseInt(entry) === ms).length} ${text}`)
        return id
      },
      xrevrange: ([key = '', , , , count = '']: Words) =>
        (this.#list(key) ?? []).slice(-Number(count)).toReversed().map(entryIn),
      xrange: ([key = '', , toMs = '', , count = '']: Words) =>
        (this.#list(key) ?? [])
          .filter((entry) => Number.parseInt(entry) <= Number(toMs))
          .slice(0, Number(count))
          .map(entryIn),
      xdel: ([key = '', ...ids]: Words) => {
        const list = entries(key)
        const kept = list.filter((entry) => !ids.includes(entryIn(entry)[0]))
        return list.splice(0, list.length, ...kept).length - kept.length
      },
      xlen: ([key = '']: Words) => this.#list(key)?.length ?? 0,
    }
  }

  #setCommands() {
    const setOf = (key: string) => this.#of('set', key)?.set
    return {
      sadd: ([key = '', ...members]: Words) => {
        const { set } = this.#of('set', key, () => ({ kind: 'set', set: new Set() })) as { set: Set<string> }
        const before = set.size
        for (const member of members) set.add(member)
        return set.size - before
      },
      srem: ([key = '', ...members]: Words) => {
        const set = setOf(key)
        const count = members.filter((member) => set?.delete(member)).length
        if (set?.size === 0) this.#drop(key)
        return count
      },
      sscan: ([key = '']: Words) => ['0', [...(setOf(key) ?? [])]],
      scard: ([key = '']: Words) => setOf(key)?.size ?? 0,
      srandmember: ([key = '', count = '1']: Words) =>
        this.#shuffled([...(setOf(key) ?? [])]).slice(0, Number(count)),
    }
  }

  #zsetCommands() {
    return {
      zadd: ([key = '', ...words]: Words) => {
        const mode = ['NX', 'XX', 'LT'].find((one) => one === words[0]) ?? null
        const zset = this.#makeZset(key)
        let added = 0
        for (let i = mode === null ? 0 : 1; i < words.length; i += 2) {
          const [score, member] = [Number(words[i]), words[i + 1] as string]
          if (Number.isNaN(score)) throw new Error('ERR value is not a valid float')
          const before = zset.score(member)
          if (before === undefined && mode === 'XX') continue
          if (before === undefined) added += 1
          else if (mode === 'NX' || (mode === 'LT' && before <= score)) continue
          zset.set(member, score)
        }
        if (zset.size === 0) this.#drop(key)
        return added
      },
      zincrby: ([key = '', by = '', member = '']: Words) => {
        const zset = this.#makeZset(key)
        const score = (zset.score(member) ?? 0) + Number(by)
        zset.set(member, score)
        return String(score)
      },
      zrem: ([key = '', ...members]: Words) => {
        const zset = this.#zset(key)
        const count = members.filter((member) => zset?.remove(member)).length
        if (zset?.size === 0) this.#drop(key)
        return count
      },
    }
  }

  #zsetReads() {
    const rangeOf = (key: string, from: string, to: string, ...options: string[]) => {
      const zset = this.#zset(key)
      const found =
        zset === undefined ? [] : zset.entries().slice(...range(zset.size, Number(from), Number(to)))
      return membersOf(found, options)
    }
    const membersOf = (
      found: ReadonlyArray<{ member: string; score: number }>,
      options: readonly string[],
    ) => {
      const isScored = options.includes('WITHSCORES')
      return found.flatMap(({ member, score }) => (isScored ? [member, String(score)] : [member]))
    }
    const byScore = (key: string, from: string, to: string, ...options: string[]) => {
      const isReverse = options.includes('REV')
      const entries = this.#zset(key)?.entries() ?? []
      const within = entries.filter(isReverse ? isBetween(to, from) : isBetween(from, to))
      if (isReverse) within.reverse()
      const limit = options.indexOf('LIMIT')
      const [offset = '0', count = '-1'] = limit === -1 ? [] : options.slice(limit + 1)
      const end = count === '-1' ? undefined : Number(offset) + Number(count)
      return membersOf(within.slice(Number(offset), end), options)
    }
    const scoreOf = (key: string, member: string) => {
      const score = this.#zset(key)?.score(member)
      return score === undefined ? null : String(score)
    }
    return {
      zcard: ([key = '']: Words) => this.#zset(key)?.size ?? 0,
      zcount: ([key = '', from = '', to = '']: Words) => {
        return (this.#zset(key)?.entries() ?? []).filter(isBetween(from, to)).length
      },
      zscore: ([key = '', member = '']: Words) => scoreOf(key, member),
      zmscore: ([key = '', ...members]: Words) => members.map((member) => scoreOf(key, member)),
      zrange: ([key = '', from = '', to = '', ...options]: Words) =>
        options.includes('BYSCORE') ? byScore(key, from, to, ...options) : rangeOf(key, from, to, ...options),
      zrangebyscore: ([key = '', from = '', to = '', ...options]: Words) =>
        byScore(key, from, to, ...options),
      zscan: ([key = '']: Words) => ['0', rangeOf(key, '0', '-1', 'WITHSCORES')],
    }
  }
}

function scriptOf(sha: string, source: string): LuaScript {
  const known = compiled.get(sha) ?? compileLua(source)
  compiled.set(sha, known)
  return known
}

function entryIn(text: string): [id: string, fields: [string, string]] {
  const at = text.indexOf(' ')
  return [text.slice(0, at), ['e', text.slice(at + 1)]]
}
