/**
 * Child process that serves one row without a network. Prints the processor time of one unit in
 * microseconds, from the least disturbed tenth of many short slices, which other load on the
 * machine hardly affects.
 */
import { serveInProcess } from '../in-process.mjs'

const { folder, row } = JSON.parse(process.argv[2])
const sent = await serveInProcess(folder, row, null)

const SLICE = 40
const SLICES = 200
let turn = 0
const serveUnit = () => sent[turn++ % sent.length]()
for (let unit = 0; unit < 4000; unit++) await serveUnit()
const slices = []
for (let slice = 0; slice < SLICES; slice++) {
  const before = process.cpuUsage()
  for (let unit = 0; unit < SLICE; unit++) await serveUnit()
  const { user, system } = process.cpuUsage(before)
  slices.push((user + system) / SLICE)
}
slices.sort((a, b) => a - b)
process.send(slices[SLICES / 10])
process.exit()
