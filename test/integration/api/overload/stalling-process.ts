/** Loaded before a program by `--import`: from one SIGUSR2 to the next, every turn of its event loop takes STALL_MS more. */
const STALL_MS = 520

const never = new Int32Array(new SharedArrayBuffer(4))
let isStalling = false
process.on('SIGUSR2', () => {
  isStalling = !isStalling
  if (isStalling) stall()
})

function stall(): void {
  Atomics.wait(never, 0, 0, STALL_MS)
  if (isStalling) setImmediate(stall)
}
