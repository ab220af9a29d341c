type AsyncFunction = (...args: never[]) => Promise<unknown>

/** One call of a latched function, open until the test ends it. */
export interface LatchedCall<F extends AsyncFunction> {
  readonly args: Parameters<F>
  readonly isOpen: boolean
  answer(answer: Awaited<ReturnType<F>>): void
  fail(error: unknown): void
}

type Rule<F extends AsyncFunction> = (
  ...args: Parameters<F>
) => Awaited<ReturnType<F>> | Promise<Awaited<ReturnType<F>>>

/** An asynchronous function whose calls the test ends one by one, or by a rule. */
export interface Latched<F extends AsyncFunction> {
  (...args: Parameters<F>): Promise<Awaited<ReturnType<F>>>
  /** Every call so far, oldest first. */
  readonly calls: ReadonlyArray<LatchedCall<F>>
  /** The oldest call that has no end yet; throws when there is none. */
  readonly next: LatchedCall<F>
  /** Ends calls from now on by this rule; null = leave them open. */
  rule: Rule<F> | null
}

export function latched<F extends AsyncFunction>(rule: Rule<F> | null = null): Latched<F> {
  const calls: Array<LatchedCall<F>> = []
  function run(...args: Parameters<F>): Promise<Awaited<ReturnType<F>>> {
    if (fake.rule === null) return open(calls, args)
    const answer = fake.rule
    const ended = { args, isOpen: false, answer: () => undefined, fail: () => undefined }
    calls.push(ended)
    return Promise.try(async (): Promise<Awaited<ReturnType<F>>> => await answer(...args))
  }
  const fake = Object.defineProperties(run, {
    calls: { value: calls },
    next: {
      get: () => {
        const next = calls.find((call) => call.isOpen)
        if (next === undefined) throw new Error('no call is open')
        return next
      },
    },
    rule: { value: rule, writable: true },
  }) as unknown as Latched<F>
  return fake
}

function open<F extends AsyncFunction>(
  calls: Array<LatchedCall<F>>,
  args: Parameters<F>,
): Promise<Awaited<ReturnType<F>>> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<F>>>()
  let isOpen = true
  calls.push({
    args,
    get isOpen() {
      return isOpen
    },
    answer: (answer) => {
      isOpen = false
      resolve(answer)
    },
    fail: (error) => {
      isOpen = false
      reject(error)
    },
  })
  return promise
}
