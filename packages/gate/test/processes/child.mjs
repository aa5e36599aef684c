// One process of an application with a gate: node child.mjs <database url> <file> <clients>. Uses up a
// quota with several clients at once, and writes a dot to the file for each admitted call before the next.
import { openSync, writeSync } from 'node:fs'
import { connect } from '@tollgate/database'
import { createGate, meter, plan } from '@tollgate/gate'

const [url, path, clients] = process.argv.slice(2)
const file = openSync(path, 'a')
const database = await connect(url, { timeout: 10_000 })
const gate = createGate({
  database,
  meters: { calls: meter({ kind: 'count' }) },
  plans: { free: plan({ quota: { calls: '10000/month' } }) },
  otherwise: 'free',
  clock: { now: () => new Date('2026-03-15T12:00:00Z') },
})
const subject = { type: 'user', id: 7 }
await gate.planOf(subject)
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
// An open pipe would keep the process alive.
process.stdin.destroy()

async function useUp() {
  let refused = 0
  while (refused < 3) {
    const { allowed } = await gate.admit(subject, 'calls')
    if (allowed) {
      writeSync(file, '.')
      // As a real handler, so that the processes take turns.
      if (Math.random() < 0.1) await new Promise((resolve) => setTimeout(resolve, 2))
    } else {
      refused += 1
      await new Promise((resolve) => setTimeout(resolve, 1500))
    }
  }
}
await Promise.all(Array.from({ length: Number(clients) }, useUp))
await gate.close()
await database.close()
