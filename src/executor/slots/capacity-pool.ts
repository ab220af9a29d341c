/** A fixed number of slots, or of bytes. Each is available, granted to a claim in progress, or occupied by a job. */
export class CapacityPool {
  readonly total: number
  available: number
  granted = 0
  occupied = 0

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

  occupy(count: number): void {
    this.available -= count
    this.occupied += count
    this.#check()
  }

  /** Takes back what was occupied. */
  free(count: number): void {
    this.occupied -= count
    this.available += count
    this.#check()
  }

  #check(): void {
    const { available, granted, occupied, total } = this
    if (available >= 0 && granted >= 0 && occupied >= 0 && available + granted + occupied === total) return
    throw new Error(
      `a pool of ${total} has ${available} available, ${granted} granted and ${occupied} occupied`,
    )
  }
}
