/** What curl or wget sends. Texts may hold marks of Secrets. */
export interface GivenRequest {
  readonly url: string
  /** null = POST with a body, else GET. */
  readonly method: string | null
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | null
  /** `user:password`. */
  readonly login: string | null
  readonly timeoutSeconds: number | null
  readonly retries: number | null
  /** What is done otherwise from now on, as sentences. */
  readonly notes: readonly string[]
}
