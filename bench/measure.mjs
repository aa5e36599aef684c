import { readServerCore, waitForCalm } from './cores.mjs'
import { connections } from './fixtures.mjs'
import { runOnce, runRound } from './load.mjs'
import { scripts } from './scripts/index.mjs'
import { startServer } from './server-process.mjs'

/**
 * @typedef {{ leadIn: number, seconds: number, rounds: number,
 *   warmUp: { units: number, atMost: number } }} Pace
 * @typedef {{ column: string, subject: string, folder?: string, row: import('./rows.mjs').Row,
 *   process?: number }} Entry entries with the same process number share a server
 * @typedef {{ perSecond: number, of: Record<string, number>, busy: number, others: number,
 *   microseconds: number, p50: number, p99: number } | { error: string }} Cell `p50` and `p99` in milliseconds
 */

/**
 * Measures the entries of one row against each other. Every server is started and warmed up; then
 * many short rounds visit all of them in turn, every second round in reverse order, so that a
 * change of the machine's speed affects all alike.
 * @param {Entry[]} entries
 * @param {{ pace: Pace, patience: number, byProcessor: boolean, createDatabase: (store: string,
 * entry: Entry) => Promise<string | null> }} context
 * @returns {Promise<Record<string, Cell>>}
 */
export async function measure(entries, context) {
  const { pace, byProcessor, createDatabase } = context
  const servers = new Map()
  const runners = await Promise.all(entries.map((entry) => start(entry, servers, createDatabase)))
  for (const runner of runners) await warmUp(runner, pace)
  for (let round = 0; round < pace.rounds; round++) {
    const order = round % 2 === 0 ? runners : runners.toReversed()
    for (const runner of order) await takeSample(runner, context)
  }
  await Promise.all(runners.map((runner) => runner.server?.stop()))
  const rate = (sample) => (byProcessor ? sample.units / sample.processor : sample.perSecond)
  return Object.fromEntries(
    runners.map((runner) => [runner.column, summarize(runner, runners, rate)]),
  )
}

async function start(entry, servers, createDatabase) {
  const runner = { ...entry, samples: [], error: null, server: null, scripts: [] }
  const { subject, folder, row, process = entry } = entry
  const launch = async () =>
    startServer({ subject, folder, row, databaseUrl: await createDatabase(row.store, entry) })
  try {
    if (!servers.has(process)) servers.set(process, launch())
    runner.server = await servers.get(process)
  } catch (error) {
    runner.error = error.message
  }
  return runner
}

async function warmUp(runner, pace) {
  if (runner.error) return
  const { server, row } = runner
  const { port } = server.seed
  try {
    runner.scripts = Array.from({ length: connections }, (_, index) =>
      scripts[row.workload](server.seed, row, index),
    )
    await runOnce({ port, scripts: runner.scripts })
    const round = { port, scripts: runner.scripts, leadIn: 0, seconds: pace.seconds }
    const until = performance.now() + pace.warmUp.atMost * 1000
    let units = 0
    while (units < pace.warmUp.units && performance.now() < until)
      units += (await runRound(round)).units
  } catch (error) {
    runner.error = describe(error, server)
  }
}

/** Takes a sample, and repeats it once if other load on the machine has disturbed it. */
async function takeSample(runner, { pace, patience }) {
  if (runner.error) return
  try {
    let sample = await runSample(runner, pace)
    if (isDisturbed(sample, runner.row) && patience > 0) {
      await waitForCalm(patience)
      const again = await runSample(runner, pace)
      if (again.others < sample.others || again.busy > sample.busy) sample = again
    }
    runner.samples.push(sample)
  } catch (error) {
    runner.error = describe(error, runner.server)
  }
}

async function runSample({ server, scripts: sent }, pace) {
  const marks = []
  const result = await runRound({
    port: server.seed.port,
    scripts: sent,
    leadIn: pace.leadIn,
    seconds: pace.seconds,
    onWindow: () => marks.push({ core: readServerCore(), usage: server.usage() }),
  })
  const [before, after] = marks
  const processor = ((await after.usage) - (await before.usage)) / 1e6
  const busy = processor / result.seconds
  return { ...result, processor, busy, others: (after.core - before.core) / result.seconds - busy }
}

export const isDisturbed = ({ busy, others }, { store }) =>
  others > 0.1 || (store === 'memory' && busy < 0.9)

function summarize(runner, runners, rate) {
  if (runner.error) return { error: runner.error }
  const calm = preferCalm(runner.samples, (sample) => isCalm(sample, runner))
  const latencies = calm.flatMap((sample) => sample.latencies)
  return {
    perSecond: median(calm.map(rate)),
    of: Object.fromEntries(
      runners
        .filter((other) => !other.error)
        .map((other) => [other.column, compare(runner, other, rate)]),
    ),
    busy: median(calm.map((sample) => sample.busy)),
    others: median(calm.map((sample) => sample.others)),
    microseconds: median(calm.map((sample) => (sample.processor / sample.units) * 1e6)),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  }
}

/**
 * Returns the median of the ratios of each round, because only samples taken close together are
 * comparable.
 */
function compare(one, other, rate) {
  const pairs = one.samples
    .map((sample, round) => [sample, other.samples[round]])
    // On a busy machine a short round may pass without a single response.
    .filter(([sample, beside]) => sample.units > 0 && beside.units > 0)
  const calm = preferCalm(pairs, ([sample, beside]) => isCalm(sample, one) && isCalm(beside, other))
  return median(calm.map(([sample, beside]) => rate(sample) / rate(beside)))
}

/** Whether the server had its core to itself, and used it as much as in its best sample. */
function isCalm(sample, { samples, row }) {
  const best = Math.max(...samples.map(({ busy }) => busy))
  return !isDisturbed(sample, row) && sample.busy > 0.9 * best
}

/**
 * Prefers undisturbed samples unless only a few are left, which would be less reliable than all of
 * them.
 */
function preferCalm(list, calm) {
  const found = list.filter(calm)
  return found.length * 2 >= list.length ? found : list
}

/** @param {number[]} values */
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * The smallest value that this part of them do not exceed; NaN for none.
 * @param {number[]} values
 */
export function percentile(values, part) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}

function describe(error, server) {
  const complaints = server?.complaints().trim().split('\n').at(-1)
  return complaints ? `${error.message} (${complaints})` : error.message
}
