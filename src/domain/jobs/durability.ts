/** What an accepted job survives, from the cheapest: see docs/install.md. */
export const DURABILITIES = ['relaxed', 'fsync', 'replicated'] as const
export type Durability = (typeof DURABILITIES)[number]
