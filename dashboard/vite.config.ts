import { join } from 'node:path'
import { defineConfig } from 'vite'

/** The dashboard as it is built by scripts/build.ts; `npx vite dashboard` serves it beside a standalone on its usual port. */
export default defineConfig({
  root: import.meta.dirname,
  // Relative to `<base href>`, which the API sets to where it is served.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(import.meta.dirname, '../dist/dashboard'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The first view with what all screens share, and the other screens: many small chunks compress worse.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', test: /^(?!.*features\/(?!login|overview|statistics))/ },
            { name: 'screens', test: /features\/(?!login)/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
})
