import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { plural } from '../../format/numbers.ts'
import { countNew, steadyRows } from './steady.ts'
import './steady-rows.css'

/**
 * Around a table that changes by itself: while the pointer or the focus is in it, or it is held for another reason, its rows
 * keep their places, and what is new waits for a click.
 * @param scope what the rows were asked for: with another one all of them change at once
 */
export function SteadyRows<Row>({
  latest,
  keyOf,
  scope,
  isHeld = false,
  what,
  children,
}: {
  readonly latest: readonly Row[]
  keyOf(row: Row): string | number
  readonly scope: string
  readonly isHeld?: boolean
  /** One of them, such as `job`. */
  readonly what: string
  children(rows: readonly Row[]): ComponentChildren
}) {
  const [isOver, setIsOver] = useState(false)
  const [isFocused, setIsFocused] = useState(false)
  const [, setShownAt] = useState(0)
  const shown = useRef({ scope, rows: latest })
  const isSteady = (isHeld || isOver || isFocused) && shown.current.scope === scope
  shown.current = { scope, rows: isSteady ? steadyRows(shown.current.rows, latest, keyOf) : latest }
  const { rows } = shown.current
  const news = isSteady ? countNew(rows, latest, keyOf) : 0
  return (
    <div
      class="steady"
      onPointerEnter={() => setIsOver(true)}
      onPointerLeave={() => setIsOver(false)}
      onFocusIn={() => setIsFocused(true)}
      onFocusOut={() => setIsFocused(false)}
    >
      {news > 0 && (
        <button
          type="button"
          class="steady-news"
          onClick={() => {
            shown.current = { scope, rows: latest }
            setShownAt(Date.now())
            // This button goes, and not every browser says that the focus went with it.
            setIsFocused(false)
          }}
        >
          {plural(news, `new ${what}`)} – show
        </button>
      )}
      {children(rows)}
    </div>
  )
}
