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
    // A chunk for each area of the dashboard, and one of what they share: many small ones compress worse.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'shared', test: /dashboard\/src\/(api|format|preferences|ui)\// },
            { name: 'jobs', test: /features\/(bulk|chain|dead-letters|jobs|send)\// },
            { name: 'resources', test: /features\/(crons|overview|queues|statistics)\// },
            { name: 'team', test: /features\/(access|alerts|audit|maintenance|notifications)\// },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
})
