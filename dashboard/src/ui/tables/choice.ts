import { useState } from 'preact/hooks'

const NONE: ReadonlySet<number> = new Set()

/** What is chosen of the list that was asked for: of another one, nothing. Rows have ids that are numbers. */
export function useChoice(asked: string) {
  const [choice, setChoice] = useState({ asked, chosen: NONE, isAll: false })
  const { chosen, isAll } = choice.asked === asked ? choice : { chosen: NONE, isAll: false }
  const choose = (next: ReadonlySet<number>): void => setChoice({ asked, chosen: next, isAll: false })
  return {
    chosen,
    /** All that match are meant, shown or not. */
    isAll,
    choose,
    chooseAll: () => setChoice({ asked, chosen, isAll: true }),
    clear: () => choose(NONE),
  }
}
