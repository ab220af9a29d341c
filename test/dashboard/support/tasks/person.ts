import type { Locator, Page } from 'playwright-core'

/** Somebody at the page, whose clicks and fields are counted. */
export interface Person {
  readonly page: Page
  click(what: Locator): Promise<void>
  /** A key counts as a click. */
  press(key: string): Promise<void>
  fill(field: Locator, text: string): Promise<void>
  choose(field: Locator, option: string): Promise<void>
  button(name: string | RegExp): Locator
  link(name: string | RegExp): Locator
  item(name: string | RegExp): Locator
  /** A screen of the navigation. */
  screen(name: string): Locator
  dialog(): Locator
  readonly effort: { readonly clicks: number; readonly fields: number }
}

export function createPerson(page: Page): Person {
  const effort = { clicks: 0, fields: 0 }
  return {
    page,
    effort,
    click: async (what) => {
      effort.clicks += 1
      await what.click()
    },
    press: async (key) => {
      effort.clicks += 1
      await page.keyboard.press(key)
    },
    fill: async (field, text) => {
      effort.fields += 1
      await field.fill(text)
    },
    choose: async (field, option) => {
      effort.fields += 1
      await field.selectOption({ label: option })
    },
    button: (name) => page.getByRole('button', { name }),
    link: (name) => page.getByRole('main').getByRole('link', { name }),
    item: (name) => page.getByRole('menuitem', { name }),
    screen: (name) =>
      page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: new RegExp(`^${name}`) }),
    dialog: () => page.getByRole('dialog'),
  }
}
