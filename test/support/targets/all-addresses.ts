import { networkInterfaces } from 'node:os'

/** Loopback of both families; `obstacle` says why one cannot be tried here, null when it can. */
export const LOOPBACKS = [
  { host: '127.0.0.1', obstacle: null },
  { host: '[::1]', obstacle: hasIpv6() ? null : 'no IPv6 on this machine' },
] as const

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((of) => of?.some(({ address }) => address === '::1'))
}
