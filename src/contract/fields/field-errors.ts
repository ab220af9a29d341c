/** The body of a 422: `message` is exactly the first text of `errors`. */
export interface ValidationProblem {
  readonly message: string
  /** Texts by the path of a field, with dots. */
  readonly errors: Readonly<Record<string, readonly string[]>>
}

/** Collects the mistakes of one request in the order they are reported. */
export class FieldErrors {
  readonly #found: Array<readonly [string, string]> = []

  get count(): number {
    return this.#found.length
  }

  add(field: string, text: string): void {
    this.#found.push([field, text])
  }

  /** null without mistakes. */
  problem(): ValidationProblem | null {
    if (this.#found.length === 0) return null
    const byField = new Map<string, string[]>()
    for (const [field, text] of this.#found) {
      const texts = byField.get(field)
      if (texts === undefined) byField.set(field, [text])
      // A field that is read twice reports its mistake twice.
      else if (!texts.includes(text)) texts.push(text)
    }
    // fromEntries defines own properties, so a field called `__proto__` is an entry like any other.
    const errors: ValidationProblem['errors'] = Object.fromEntries(byField)
    // Not always the first mistake found: an object lists whole numbers before other names.
    return { message: Object.values(errors)[0]?.[0] ?? '', errors }
  }
}

export function singleProblem(field: string, text: string): ValidationProblem {
  return { message: text, errors: { [field]: [text] } }
}
