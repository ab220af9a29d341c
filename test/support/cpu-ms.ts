/**
 * The CPU that this thread took for `act`, in ms: a bound that holds however busy the machine is. What other threads and
 * processes do for it does not count.
 */
export function cpuMsOf(act: () => void): number {
  const before = process.threadCpuUsage()
  act()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
