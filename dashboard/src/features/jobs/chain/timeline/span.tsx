import { formatDuration } from '../../../../format/times.ts'
import { Time } from '../../../../ui/text/time.tsx'
import type { Span } from './plan.ts'
import './span.css'

/** When the attempts of a chain were and may be, all on one axis. The rows below tell the same in words. */
export function SpanStrip({ span }: { readonly span: Span }) {
  const percent = (part: number): string => `${(part * 100).toFixed(3)}%`
  return (
    <div class="span">
      <div class="span-axis" aria-hidden="true">
        {span.now !== null && <i class="span-now" style={{ left: percent(span.now) }} />}
        {span.marks.map(({ attempt, kind, tone, from, width }) => (
          <i
            key={`${attempt} ${kind}`}
            data-mark={kind}
            data-tone={tone}
            title={`Attempt ${attempt}`}
            style={{ left: percent(from), width: percent(width) }}
          />
        ))}
      </div>
      <div class="span-ends soft number">
        <Time at={new Date(span.fromMs).toISOString()} form="stamp" />
        <span>over {formatDuration(span.toMs - span.fromMs)}</span>
        <Time at={new Date(span.toMs).toISOString()} form="stamp" />
      </div>
    </div>
  )
}
