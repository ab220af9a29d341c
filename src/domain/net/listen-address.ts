/** All addresses of this machine, of both families as far as it has them. */
export const ALL_ADDRESSES = '*'

/** For node:net, which without a host listens on `::` for both families, or on `0.0.0.0` where there is no IPv6. */
export function listenPlace(port: number, host: string): { readonly port: number; readonly host?: string } {
  return host === ALL_ADDRESSES ? { port } : { port, host }
}
