/** A line of the result; a number to two digits behind the point. */
export function tell(name: string, value: number | string): void {
  process.stdout.write(`${name}: ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}\n`)
}
