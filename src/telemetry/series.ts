import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

interface HistogramOptions<Label extends string> {
  readonly help: string
  /** Upper bounds of the buckets, seconds. */
  readonly seconds: readonly number[]
  readonly labels?: readonly Label[]
}

/** Makes series in one registry. */
export class Series {
  readonly #registers: [Registry]

  constructor(registry: Registry) {
    this.#registers = [registry]
  }

  counter<Label extends string>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: this.#registers })
  }

  /** Every value is exported from the start, as 0: a rate over a series that does not exist shows nothing. */
  counterOf(name: string, help: string, labels: Readonly<Record<string, readonly string[]>>): Counter {
    const made = this.counter(name, help, ...Object.keys(labels))
    for (const [label, values] of Object.entries(labels)) {
      for (const value of values) made.inc({ [label]: value }, 0)
    }
    return made
  }

  gauge<Label extends string>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: this.#registers })
  }

  /** A gauge that is read when the metrics are scraped; 0 until it is given a reader. */
  gaugeRead(name: string, help: string): (read: () => number) => void {
    let readNow = (): number => 0
    const registers = this.#registers
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(readNow()) })
    return (read) => {
      readNow = read
    }
  }

  histogram<Label extends string>(
    name: string,
    { help, seconds, labels = [] }: HistogramOptions<Label>,
  ): Histogram<Label> {
    const options = { name, help, buckets: [...seconds], labelNames: labels }
    return new Histogram({ ...options, registers: this.#registers })
  }
}
