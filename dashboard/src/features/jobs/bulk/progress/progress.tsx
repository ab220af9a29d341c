import type { Bulk } from '../../../../../../clients/typescript/src/client.ts'
import { formatCount } from '../../../../format/numbers.ts'
import './progress.css'

/** How far a bulk is: done, skipped and failed of what was found. */
export function Progress({ bulk }: { readonly bulk: Bulk }) {
  const { done, skipped, failed, state, is_at_least: isAtLeast } = bulk
  const over = done + skipped + failed
  const whole = Math.max(bulk.matched, over)
  const isUnsure = isAtLeast && state !== 'done'
  const share = whole === 0 ? (state === 'done' ? 100 : 0) : Math.floor((over / whole) * 100)
  const text = `${formatCount(over)} of ${isUnsure ? 'at least ' : ''}${formatCount(whole)}`
  return (
    <div class="progress">
      <div
        class="progress-bar"
        role="progressbar"
        aria-label="Progress"
        aria-valuenow={share}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={text}
      >
        <i data-tone="good" style={{ width: widthOf(done, whole) }} />
        <i data-tone="plain" style={{ width: widthOf(skipped, whole) }} />
        <i data-tone="bad" style={{ width: widthOf(failed, whole) }} />
      </div>
      <span class="number">{text}</span>
    </div>
  )
}

function widthOf(part: number, whole: number): string {
  return whole === 0 ? '0' : `${(part / whole) * 100}%`
}
