/** A body as JSON text, sent as it stands: numbers beyond 2^53 keep their digits, fields their order. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
