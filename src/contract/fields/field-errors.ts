/** The body of a 422, as the contract has it: `message` is exactly the first text of `errors`. */
export interface ValidationProblem {
  readonly message: string
  /** Flat: a field's path with dots → its texts. */
  readonly errors: Readonly<Record<string, readonly string[]>>
}

/** Collects the mistakes of one request, in the order they are reported. */
export interface FieldErrors {
  readonly count: () => number
  add(field: string, text: string): void
  /** null when there are none. */
  problem(): ValidationProblem | null
}

export function createFieldErrors(): FieldErrors {
  const found: Array<readonly [string, string]> = []
  return {
    count: () => found.length,
    add: (field, text) => {
      found.push([field, text])
    },
    problem: () => {
      if (found.length === 0) return null
      const byField = new Map<string, string[]>()
      for (const [field, text] of found) {
        const texts = byField.get(field)
        if (texts === undefined) byField.set(field, [text])
        else texts.push(text)
      }
      // fromEntries defines own properties, so a field called `__proto__` is an entry like any other.
      const errors: ValidationProblem['errors'] = Object.fromEntries(byField)
      // Not that of the first mistake found: in an object whole numbers stand before other names.
      return { message: Object.values(errors)[0]?.[0] ?? '', errors }
    },
  }
}

/** A problem with one field. */
export function singleProblem(field: string, text: string): ValidationProblem {
  return { message: text, errors: { [field]: [text] } }
}
