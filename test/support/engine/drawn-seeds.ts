/** `SEED=… npm run test:model` tells the story of one seed again. */
const SEED = process.env['SEED'] === undefined ? null : Number(process.env['SEED'])

/** Seeds for tests that draw for themselves: new ones in each run, so that many runs see many stories. */
export function drawnSeeds(count: number): number[] {
  if (SEED !== null) return [SEED]
  return Array.from({ length: count }, () => Math.floor(Math.random() * 2 ** 31))
}

/** For fast-check, which draws a seed for itself and reports it when something fails. */
export const REPEATED: { readonly seed?: number } = SEED === null ? {} : { seed: SEED }
