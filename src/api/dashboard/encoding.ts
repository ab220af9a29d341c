import type { Encoding } from './built-dashboard.ts'

const WANTED = /^\s*(?<name>[\w*-]+)\s*(?:;\s*q=(?<weight>[\d.]+)\s*)?$/i

/** The best compression that a client takes; null = none. */
export function encodingFor(acceptEncoding: string): Encoding | null {
  const weights = new Map<string, number>()
  for (const part of acceptEncoding.split(',')) {
    const { name, weight } = WANTED.exec(part)?.groups ?? {}
    if (name !== undefined) weights.set(name.toLowerCase(), weight === undefined ? 1 : Number(weight))
  }
  const takes = (name: Encoding): boolean => (weights.get(name) ?? weights.get('*') ?? 0) > 0
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : null
}
