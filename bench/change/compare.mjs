/** Child process that serves one row with several checkouts, in alternating slices. */
import { serveInProcess } from '../in-process.mjs'
import { median } from '../measure.mjs'

const { subjects, urls, row, slices } = JSON.parse(process.argv[2])
const UNITS = 400
const served = []
for (const [name, folder] of Object.entries(subjects)) {
  served.push({ name, connections: await serveInProcess(folder, row, urls[name]), times: [] })
}
for (let round = 0; round < 10; round++) for (const each of served) await slice(each)
for (const each of served) each.times.length = 0
for (let round = 0; round < slices; round++) {
  for (const each of round % 2 ? served.toReversed() : served) await slice(each)
}
const [before, now, again] = served.map(({ times }) => times)
process.send({
  before: median(before),
  now: median(now),
  faster: median(now.map((time, at) => before[at] / time)),
  itself: median(now.map((time, at) => again[at] / time)),
})
process.exit()

/**
 * Uses all connections at once, as clients would, so that batching in the database takes effect.
 */
async function slice({ connections, times }) {
  let left = UNITS
  const before = process.cpuUsage()
  await Promise.all(
    connections.map(async (serveUnit) => {
      while (left-- > 0) await serveUnit()
    }),
  )
  const { user, system } = process.cpuUsage(before)
  times.push((user + system) / UNITS)
}
