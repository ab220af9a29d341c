import { useLocation } from 'preact-iso'
import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useRef, useState } from 'preact/hooks'

/** Points from the first to the last, by their indexes. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A pointer that moves less than this, in pixels, has chosen a point and not dragged. */
const DRAG_MIN = 6

/** Where the choice began, and where it ends now, by their indexes; either may come first. */
interface Choice {
  readonly anchor: number
  readonly head: number
}

interface ChoiceParts {
  /** When each point begins, Unix ms. */
  readonly times: readonly number[]
  /** The point next to a place. */
  indexAt(clientX: number, element: HTMLElement): number | null
  hrefOf(span: Span): string
}

/**
 * A span of the points of a chart. A drag opens its jobs; a click or a tap chooses a point, and so do the arrow keys, with
 * Shift several; Enter opens the jobs of what is chosen, Escape chooses nothing.
 */
export function useSpanChoice({ times, indexAt, hrefOf }: ChoiceParts) {
  const { route } = useLocation()
  const drag = useRef<{ readonly ms: number; readonly x: number } | null>(null)
  const [chosen, choose] = useChosen(times)
  const [hovered, setHovered] = useState<number | null>(null)
  const pointed = (event: TargetedPointerEvent<HTMLDivElement>): Pointed | null => {
    const head = indexAt(event.clientX, event.currentTarget)
    const begun = drag.current
    if (head === null) return null
    const isDrag = begun !== null && Math.abs(event.clientX - begun.x) >= DRAG_MIN
    const anchor = isDrag ? times.indexOf(begun.ms) : head
    return { choice: { anchor: anchor === -1 ? head : anchor, head }, isDrag, hasBegun: begun !== null }
  }
  const onPointerDown = (event: TargetedPointerEvent<HTMLDivElement>): void => {
    const ms = times[pointed(event)?.choice.head ?? -1]
    if (event.button !== 0 || ms === undefined) return
    event.currentTarget.setPointerCapture(event.pointerId)
    drag.current = { ms, x: event.clientX }
  }
  const onPointerMove = (event: TargetedPointerEvent<HTMLDivElement>): void => {
    const now = pointed(event)
    if (now?.isDrag === true) choose(now.choice)
    else if (now?.hasBegun === false) setHovered(now.choice.head)
  }
  const onPointerUp = (event: TargetedPointerEvent<HTMLDivElement>): void => {
    const now = pointed(event)
    drag.current = null
    if (now?.hasBegun !== true) return
    choose(now.choice)
    if (now.isDrag) route(hrefOf(spanOf(now.choice)))
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const next = keyed(event, chosen, times.length)
    if (event.key === 'Enter' && chosen !== null) route(hrefOf(spanOf(chosen)))
    else if (event.key === 'Escape' && chosen !== null) choose(null)
    else if (next !== null) choose(next)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return {
    span: chosen !== null ? spanOf(chosen) : hovered === null ? null : { from: hovered, to: hovered },
    /** The point that the cursor is at. */
    at: chosen?.head ?? (hovered === null ? null : Math.min(hovered, times.length - 1)),
    /** null = nothing is chosen. */
    href: chosen === null ? null : hrefOf(spanOf(chosen)),
    listeners: {
      onPointerDown,
      onPointerMove,
      onPointerUp,
      onPointerCancel: () => {
        drag.current = null
        choose(null)
      },
      onPointerLeave: () => setHovered(null),
      onKeyDown,
    },
  }
}

interface Pointed {
  readonly choice: Choice
  /** The pointer is down, and has been moved. */
  readonly isDrag: boolean
  /** The pointer is down. */
  readonly hasBegun: boolean
}

/** A choice is of times, so that it stays where it is while points come and go. It ends when one of its points has gone. */
function useChosen(times: readonly number[]) {
  const [span, setSpan] = useState<readonly [anchorMs: number, headMs: number] | null>(null)
  const [anchor, head] = (span ?? []).map((ms) => times.indexOf(ms))
  const isThere = anchor !== undefined && head !== undefined && anchor !== -1 && head !== -1
  const choose = (next: Choice | null): void => {
    setSpan(next === null ? null : [times[next.anchor] ?? 0, times[next.head] ?? 0])
  }
  return [isThere ? { anchor, head } : null, choose] as const
}

function spanOf({ anchor, head }: Choice): Span {
  return { from: Math.min(anchor, head), to: Math.max(anchor, head) }
}

interface Key {
  readonly key: string
  readonly shiftKey: boolean
}

/** What a key makes of a choice; null = it means nothing here. */
export function keyed({ key, shiftKey }: Key, chosen: Choice | null, count: number): Choice | null {
  const last = count - 1
  if (last < 0) return null
  const at = chosen?.head ?? null
  const moved: Readonly<Record<string, number>> = {
    ArrowLeft: at === null ? last : at - 1,
    ArrowRight: at === null ? last : at + 1,
    Home: 0,
    End: last,
  }
  const to = moved[key]
  if (to === undefined) return null
  const head = Math.max(0, Math.min(last, to))
  return { anchor: shiftKey && chosen !== null ? chosen.anchor : head, head }
}
