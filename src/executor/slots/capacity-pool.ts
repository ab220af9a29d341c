/** A fixed number of slots, or of bytes. Each is available, granted to a claim in progress, or held by a job. */
export class CapacityPool {
  readonly total: number
  available: number
  granted = 0
  held = 0

  constructor(total: number) {
    this.total = total
    this.available = total
  }

  grant(count: number): void {
    this.available -= count
    this.granted += count
    this.#check()
  }

  /** Takes back what was granted. */
  revoke(count: number): void {
    this.granted -= count
    this.available += count
    this.#check()
  }

  hold(count: number): void {
    this.available -= count
    this.held += count
    this.#check()
  }

  /** Takes back what was held. */
  free(count: number): void {
    this.held -= count
    this.available += count
    this.#check()
  }

  #check(): void {
    const { available, granted, held, total } = this
    if (available >= 0 && granted >= 0 && held >= 0 && available + granted + held === total) return
    throw new Error(`a pool of ${total} has ${available} available, ${granted} granted and ${held} held`)
  }
}
