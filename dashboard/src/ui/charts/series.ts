export interface Line {
  /** One for each time; null = nothing was measured. */
  readonly values: ReadonlyArray<number | null>
  /** What the points from an index up to another say together; without indexes, all of the span. */
  over(from?: number, to?: number): number | null
}

export interface Series extends Line {
  readonly label: string
  /** A custom property of the style sheet, such as `--good`. */
  readonly colour: string
  /** The area below is filled. */
  readonly isFilled?: boolean
  /** The same in the span before, under the times of this one, with its name. */
  readonly before?: Line & { readonly label: string }
}

export interface ChartProps {
  /** What is shown, for the table and for screen readers. */
  readonly caption: string
  /** What the values of the whole span are, such as `In 1 hour`. */
  readonly spanText: string
  /** When each point begins, Unix ms; each ends after `stepMs`. */
  readonly times: readonly number[]
  readonly stepMs: number
  readonly series: readonly Series[]
  /** A value with its unit. */
  format(value: number): string
  /** How long a value of 1 is; absent when values are no durations. */
  readonly unitMs?: number
  /** The address of the jobs of a span, Unix ms. */
  hrefOf(fromMs: number, toMs: number): string
}
