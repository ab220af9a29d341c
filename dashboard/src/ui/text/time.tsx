import { useEffect, useState } from 'preact/hooks'
import { formatRelative, formatShort, formatStamp } from '../../format/times.ts'
import { usePreference } from '../../preferences/preference.ts'
import { timeForm } from '../../preferences/time-form.ts'
import { timeZone, zoneName } from '../../preferences/time-zone.ts'

const TICK_MS = 1_000

let nowMs = Date.now()
const listeners = new Set<() => void>()
let timer: number | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= window.setInterval(() => {
    nowMs = Date.now()
    for (const one of listeners) one()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

/** The time, every second: one timer for all. Unix ms. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => subscribe(() => setNow(nowMs)), [])
  return now
}

/** The chosen zone, by its IANA name. */
export function useZone(): string {
  return zoneName(usePreference(timeZone))
}

/**
 * How long ago or until then, or the clock's time if the viewer likes that better, with the full stamp in the chosen zone on
 * hover; or the stamp itself.
 * @param at as the API writes it; null = `absent`
 */
export function Time({
  at,
  form = 'relative',
  absent = '–',
}: {
  readonly at: string | null
  /** `exact`: relative, with two units. */
  readonly form?: 'relative' | 'exact' | 'stamp'
  readonly absent?: string
}) {
  const zone = useZone()
  if (at === null) return <span class="soft">{absent}</span>
  const stamp = formatStamp(Date.parse(at), zone)
  return (
    <time class="number" dateTime={at} title={`${stamp} ${zone}`}>
      {form === 'stamp' ? stamp : <Relative atMs={Date.parse(at)} isExact={form === 'exact'} />}
    </time>
  )
}

function Relative({ atMs, isExact }: { readonly atMs: number; readonly isExact: boolean }) {
  const zone = useZone()
  const isStamp = usePreference(timeForm) === 'stamp'
  const nowMs = useNow()
  return <>{isStamp ? formatShort(atMs, nowMs, zone) : formatRelative(atMs, nowMs, isExact)}</>
}
