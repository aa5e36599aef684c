// A sandbox that is killed at one of its writes: node killed-child.mjs STATE_FILE PORT WRITE PART
// PART of the bytes of that write reach the file first.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [stateFile, port, killAt, part] = process.argv.slice(2)
let writes = 0
const { writeSync } = fs
fs.writeSync = (descriptor, data, ...rest) => {
  writes += 1
  if (writes === Number(killAt)) {
    const bytes = Math.floor(data.length * Number(part))
    if (bytes > 0) writeSync(descriptor, data, 0, bytes)
    process.kill(process.pid, 'SIGKILL')
  }
  return writeSync(descriptor, data, ...rest)
}
syncBuiltinESMExports()

const { startSandbox } = await import('@tollgate/sandbox')
await startSandbox({
  stripe: { port: Number(port) },
  stateFile,
  now: new Date('2026-01-31T10:00:00Z'),
})
process.stdout.write('ready\n')
