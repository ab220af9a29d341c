import { LuaTable } from './lua-runtime.ts'

/** A reply as a client sees it. */
export type Reply = null | number | string | Reply[]

/** Inside, texts are held as one character per byte. */
const WIDE = /[^\0-\x7f]/

export function encode(text: string): string {
  return WIDE.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text
}

export function decode(reply: Reply): Reply {
  if (typeof reply === 'string') {
    return WIDE.test(reply) ? Buffer.from(reply, 'latin1').toString('utf8') : reply
  }
  return Array.isArray(reply) ? reply.map(decode) : reply
}

export function toWord(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw new Error('ERR Lua redis lib command arguments must be strings or integers')
}

export function toLua(reply: Reply): unknown {
  if (reply === null) return false
  return Array.isArray(reply) ? new LuaTable(reply.map(toLua)) : reply
}

/** As Redis does, truncates numbers to integers and ends a list at its first nil. */
export function fromLua(value: unknown): Reply {
  if (value instanceof LuaTable) {
    const end = value.list.indexOf(undefined)
    return (end === -1 ? value.list : value.list.slice(0, end)).map(fromLua)
  }
  if (typeof value === 'number') return Math.trunc(value)
  if (typeof value === 'string') return value
  return value === true ? 1 : null
}
