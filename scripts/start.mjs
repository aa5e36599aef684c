// npm start: installs what is missing, builds, and runs the example app.
import { prepare } from './prepare.mjs'

const failed = prepare()
if (failed) process.exitCode = failed
else await import('../examples/hono/dist/main.js')
