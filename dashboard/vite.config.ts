import { join } from 'node:path'
import { defineConfig } from 'vite'

/** The dashboard as it is built by scripts/build.ts; `npx vite dashboard` serves it beside a standalone on its usual port. */
export default defineConfig({
  root: import.meta.dirname,
  // Relative to `<base href>`, which the API sets to where it is served.
  base: './',
  // Calls of `h` with their children as arguments are 1.3 kB less than those of the automatic runtime.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment' },
    jsxInject: "import { h, Fragment } from 'preact'",
  },
  build: {
    outDir: join(import.meta.dirname, '../dist/dashboard'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Rules of one file override those of another: their order must not depend on which screen was shown first.
    cssCodeSplit: false,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
})
