#!/usr/bin/env node
// Not in dist/, because npm links a command at install only if its file is there: in a clone, before the first build.
import { existsSync } from 'node:fs'

const program = new URL('../dist/cli.js', import.meta.url)
if (existsSync(program)) {
  await import(program.href)
} else {
  console.error(
    'This clone of Tollgate is not built yet. Run npm run build, or npm start, and try again.',
  )
  process.exitCode = 1
}
