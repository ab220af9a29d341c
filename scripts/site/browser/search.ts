/** The search of the site: the index comes when the field is first used, and no server is asked. */
import MiniSearch, { type SearchResult } from 'minisearch'
import { INDEXED } from '../indexed.ts'

const SHOWN = 12
const root = document.body.dataset['root'] ?? ''
const field = document.querySelector<HTMLInputElement>('#search')
const list = document.querySelector<HTMLUListElement>('#found')
let index: Promise<MiniSearch> | null = null
let chosen = -1

if (field !== null && list !== null) {
  field.addEventListener('focus', () => void load())
  field.addEventListener('input', () => void find(field, list))
  field.addEventListener('keydown', (event) => onKey(event, field, list))
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    field.focus()
  })
  addEventListener('click', (event) => {
    if (event.target instanceof Node && !field.parentElement?.contains(event.target)) show(field, list, [])
  })
}

function load(): Promise<MiniSearch> {
  index ??= fetch(`${root}search-index.json`)
    .then((answer) => answer.text())
    .then((text) => MiniSearch.loadJSON(text, INDEXED))
  return index
}

async function find(input: HTMLInputElement, found: HTMLUListElement): Promise<void> {
  const text = input.value
  const loaded = await load()
  // Another letter was typed meanwhile.
  if (text !== input.value) return
  const options = { boost: { heading: 4, title: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' } as const
  show(input, found, text.trim() === '' ? [] : loaded.search(text, options).slice(0, SHOWN))
}

function show(input: HTMLInputElement, found: HTMLUListElement, results: readonly SearchResult[]): void {
  chosen = -1
  input.setAttribute('aria-expanded', String(results.length > 0))
  input.removeAttribute('aria-activedescendant')
  found.hidden = results.length === 0
  found.replaceChildren(
    ...results.map((result, i) => {
      const item = document.createElement('li')
      item.id = `found-${i}`
      item.role = 'option'
      const link = document.createElement('a')
      link.href = `${root}${String(result['url'])}`
      link.tabIndex = -1
      link.append(
        part('strong', result['heading']),
        part('span', result['title']),
        part('small', result['excerpt']),
      )
      item.append(link)
      return item
    }),
  )
}

function part(name: string, text: unknown): HTMLElement {
  const element = document.createElement(name)
  element.textContent = String(text)
  return element
}

function onKey(event: KeyboardEvent, input: HTMLInputElement, found: HTMLUListElement): void {
  const items = [...found.querySelectorAll('li')]
  switch (event.key) {
    case 'ArrowDown':
    case 'ArrowUp': {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      chosen = Math.min(items.length - 1, Math.max(0, chosen + step))
      for (const [i, item] of items.entries()) item.ariaSelected = String(i === chosen)
      items[chosen]?.scrollIntoView({ block: 'nearest' })
      input.setAttribute('aria-activedescendant', `found-${chosen}`)
      break
    }
    case 'Enter':
      items[Math.max(0, chosen)]?.querySelector('a')?.click()
      break
    case 'Escape':
      show(input, found, [])
      break
  }
}
