import type { Pool } from './share-rule.ts'

/** Slots, or bytes, and who has them: each is held, granted or free, and none is in two places or lost. */
export class ByteBudget implements Pool {
  readonly total: number
  held = 0
  granted = 0
  free: number

  constructor(total: number) {
    this.total = total
    this.free = total
  }

  grant(count: number): void {
    this.free -= count
    this.granted += count
    this.#check()
  }

  /** What was granted is free again. */
  takeBack(count: number): void {
    this.granted -= count
    this.free += count
    this.#check()
  }

  hold(count: number): void {
    this.free -= count
    this.held += count
    this.#check()
  }

  release(count: number): void {
    this.held -= count
    this.free += count
    this.#check()
  }

  #check(): void {
    const { held, granted, free, total } = this
    if (held >= 0 && granted >= 0 && free >= 0 && held + granted + free === total) return
    throw new Error(`a budget of ${total} came to ${held} held, ${granted} granted and ${free} free`)
  }
}
