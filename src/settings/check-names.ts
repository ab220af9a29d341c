/** The checks of `punctual doctor`, in their order. */
export const CHECK_NAMES = [
  'redis',
  'installation',
  'secrets',
  'tokens',
  'clock',
  'losses',
  'leases',
  'data',
] as const
export type CheckName = (typeof CHECK_NAMES)[number]
