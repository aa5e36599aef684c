// npm start: installs missing packages, builds, and runs the service.
import { prepare } from './prepare.mjs'

const failed = await prepare()
if (failed) process.exitCode = failed
else {
  process.argv.splice(2, 0, 'serve')
  await import('../packages/server/dist/main.js')
}
