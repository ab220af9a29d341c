import { formatCount } from '../../format/numbers.ts'

const BAR = 4
const GAP = 1
/** The lowest bar, so that one failure is visible beside thousands. */
const HEIGHT_MIN = 2

/** Failures by the hour as bars, without axes: how it began, and whether it goes on. */
export function Spark({ values, height }: { readonly values: readonly number[]; readonly height: number }) {
  const most = Math.max(1, ...values)
  const width = values.length * (BAR + GAP)
  const total = values.reduce((sum, value) => sum + value, 0)
  const label = `${formatCount(total)} failed in the last ${values.length} hours, at most ${formatCount(most)} in one`
  return (
    <svg
      class="spark"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="none"
    >
      <title>{label}</title>
      {values.map((value, i) => {
        const tall = value === 0 ? 1 : Math.max(HEIGHT_MIN, Math.round((value / most) * height))
        return (
          <rect
            key={i}
            data-empty={value === 0}
            x={i * (BAR + GAP)}
            y={height - tall}
            width={BAR}
            height={tall}
          />
        )
      })}
    </svg>
  )
}
