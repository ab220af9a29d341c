/** All methods answer later anyway. */
type AsyncPort<Port> = { readonly [Method in keyof Port]: (...args: never[]) => Promise<unknown> }

/**
 * A port that callers hold before it is open.
 * @param current the open port; what it throws until then is what each call rejects with
 */
export function lazyPort<Port extends AsyncPort<Port>>(current: () => Port): Port {
  return new Proxy({} as Port, {
    get: (_, method) => {
      // A promise that resolves to the port asks whether it is a promise itself.
      if (method === 'then') return undefined
      return async (...args: unknown[]) => {
        const port = current() as unknown as Readonly<
          Record<typeof method, (...args: unknown[]) => Promise<unknown>>
        >
        return port[method]?.(...args)
      }
    },
  })
}
