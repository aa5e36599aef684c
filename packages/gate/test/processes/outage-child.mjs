// One process of an application whose database goes away: node outage-child.mjs <database url> <file>
// <journal>. Writes a dot to the file for each admitted call before the next, until it is killed.
import { openSync, writeSync } from 'node:fs'
import { connect } from '@tollgate/database'
import { createGate, meter, plan } from '@tollgate/gate'

const [url, path, journal] = process.argv.slice(2)
const file = openSync(path, 'a')
const database = await connect(url, { timeout: 1500 })
const gate = createGate({
  database,
  journal,
  meters: { lenient: meter({ onOutage: { allow: 20 } }) },
  plans: { free: plan({ quota: { lenient: '1000/month' } }) },
  otherwise: 'free',
  clock: { now: () => new Date('2026-03-15T12:00:00Z') },
  logger: { warn() {}, error() {} },
})
const subject = { type: 'user', id: 7 }
await gate.planOf(subject)
process.stdout.write('ready\n')

for (;;) {
  try {
    const { allowed } = await gate.admit(subject, 'lenient', 1)
    if (allowed) writeSync(file, '.')
  } catch {
    // Refused: the bound is reached.
  }
  await new Promise((resolve) => setTimeout(resolve, 100))
}
