import { SECRET_BYTES_PER_TEAM_MAX } from '../../../domain/limits.ts'

/** How much of SECRET_BYTES_PER_TEAM_MAX each team takes. Owns the bytes of each entry, and their sum for each team. */
export class TeamBytes {
  readonly #ofField = new Map<string, number>()
  readonly #ofTeam = new Map<string, number>()

  fits({ team, field }: { readonly team: string; readonly field: string }, bytes: number): boolean {
    const others = (this.#ofTeam.get(team) ?? 0) - this.of(field)
    return others + bytes <= SECRET_BYTES_PER_TEAM_MAX
  }

  of(field: string): number {
    return this.#ofField.get(field) ?? 0
  }

  note({ team, field }: { readonly team: string; readonly field: string }, bytes: number): void {
    const all = (this.#ofTeam.get(team) ?? 0) - this.of(field) + bytes
    if (all > 0) this.#ofTeam.set(team, all)
    else this.#ofTeam.delete(team)
    if (bytes > 0) this.#ofField.set(field, bytes)
    else this.#ofField.delete(field)
  }
}
