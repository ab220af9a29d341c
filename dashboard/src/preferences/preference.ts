import { useEffect, useState } from 'preact/hooks'

/** A choice of the viewer, kept in this browser. */
export interface Preference<Value extends string> {
  get(): Value
  set(value: Value): void
  /** @returns ends the subscription */
  subscribe(listener: () => void): () => void
}

/**
 * @param key in localStorage, where other tabs find it too
 * @param parse the value that a stored text stands for; null for one that has no meaning any more
 */
export function createPreference<Value extends string>(
  key: string,
  initial: Value,
  parse: (text: string) => Value | null,
): Preference<Value> {
  const listeners = new Set<() => void>()
  const stored = () => {
    const text = readStored(key)
    return text === null ? null : parse(text)
  }
  let value = stored() ?? initial
  const tell = (): void => {
    for (const listener of listeners) listener()
  }
  window.addEventListener('storage', (event) => {
    if (event.key !== key) return
    value = stored() ?? initial
    tell()
  })
  return {
    get: () => value,
    set: (next) => {
      value = next
      writeStored(key, next)
      tell()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function usePreference<Value extends string>(preference: Preference<Value>): Value {
  const [value, setValue] = useState(preference.get)
  useEffect(() => {
    setValue(preference.get())
    return preference.subscribe(() => setValue(preference.get()))
  }, [preference])
  return value
}

/** Browsers may forbid storage: then a choice lasts as long as the page. */
function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function writeStored(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Storage is forbidden or full.
  }
}
