/** Strokes on a grid of 24. */
const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM14 8h6V4h-6zM4 20h6v-4H4z',
  jobs: 'M8 6h13M8 12h13M8 18h13M3.5 6h.01M3.5 12h.01M3.5 18h.01',
  queue: 'M12 3 3 7.5l9 4.5 9-4.5zM3 12l9 4.5 9-4.5M3 16.5 12 21l9-4.5',
  cron: 'M12 7v5l3 2M21 12a9 9 0 1 1-9-9 9 9 0 0 1 9 9z',
  dead: 'M4 8h16v11a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM3 4h18v4H3zM10 12h4',
  alert: 'M6 9a6 6 0 1 1 12 0c0 6 2.5 7 2.5 7h-17S6 15 6 9M10 20a2 2 0 0 0 4 0',
  bulk: 'M4 7l2 2 3-4M4 17l2 2 3-4M13 7h8M13 17h8',
  window: 'M4 5h16v16H4zM8 3v4M16 3v4M4 10h16M9 15h6',
  bell: 'M4 5h16v14H4zM4 6l8 7 8-7',
  key: 'M15 9a1 1 0 1 0 .01 0M8.5 21.5l8-8M21 9a6 6 0 1 0-8 5.6L10 17H7v3H3v-4l6.4-6.4A6 6 0 0 0 21 9z',
  audit: 'M6 3h9l4 4v14H6zM9 12h7M9 16h7M9 8h3',
  send: 'M21 3 10 14M21 3l-7 18-4-7-7-4z',
  search: 'M20 20l-4.3-4.3M18 11a7 7 0 1 1-7-7 7 7 0 0 1 7 7z',
  pause: 'M9 5v14M15 5v14',
  play: 'M7 4.5v15l12-7.5z',
  stop: 'M6 6h12v12H6z',
  retry: 'M20 11a8 8 0 1 0-2.3 6.3M20 4v7h-7',
  fire: 'M13 3 5 14h6l-1 7 8-11h-6z',
  trash: 'M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  download: 'M12 4v11M7 11l5 5 5-5M4 20h16',
  wrap: 'M4 6h16M4 12h13a3 3 0 0 1 0 6h-4M15 16l-2 2 2 2M4 18h5',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7',
  chevron: 'M9 6l6 6-6 6',
  back: 'M15 6l-6 6 6 6',
  down: 'M6 9l6 6 6-6',
  more: 'M4 12a1 1 0 1 0 2 0 1 1 0 1 0-2 0M11 12a1 1 0 1 0 2 0 1 1 0 1 0-2 0M18 12a1 1 0 1 0 2 0 1 1 0 1 0-2 0',
  sun: 'M12 8a4 4 0 1 0 .01 0M12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  screen: 'M3 5h18v12H3zM8 21h8M12 17v4',
  menu: 'M4 6h16M4 12h16M4 18h16',
  user: 'M12 12a4 4 0 1 0-.01 0M4 21a8 8 0 0 1 16 0',
  logout: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  warning: 'M12 4 2.5 20h19zM12 10v4M12 17h.01',
  info: 'M12 11v5M12 8h.01M21 12a9 9 0 1 1-9-9 9 9 0 0 1 9 9z',
  external: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  git: 'M7 8v8M7 8a2 2 0 1 0-.01 0M7 20a2 2 0 1 0-.01-4M17 10a2 2 0 1 0-.01-4M17 10c0 4-10 2-10 6',
  filter: 'M4 5h16l-6 8v6l-4-2v-4z',
  command: 'M4 7l5 5-5 5M12 18h8',
} as const

export type IconName = keyof typeof PATHS

/** A picture beside a text that says the same: it is hidden from screen readers. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
