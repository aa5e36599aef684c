import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus } from 'node:os'

/** The server under test has core 0 to itself; the load, and Postgres as its child, share core 1. */
const serverCore = 0
const loadCore = 1

export const canPin =
  process.platform === 'linux' &&
  availableParallelism() >= 2 &&
  spawnSync('taskset', ['--version']).status === 0

/** Moves this process, and every process it starts from now on, to the load's core. */
export function pinLoad() {
  if (canPin)
    spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `${loadCore}`, `${process.pid}`])
}

/**
 * @param {string[]} argv
 * @returns {[string, string[]]} the command that runs Node with these arguments on the server's core
 */
export function serverCommand(argv) {
  const node = [process.execPath, ...argv]
  const [command, ...rest] = canPin ? ['taskset', '--cpu-list', `${serverCore}`, ...node] : node
  return [command, rest]
}

/** Seconds that the server's core has been at work, whoever for; 0 where the server has no core. */
export const readServerCore = () => (canPin ? readWork([cpus()[serverCore]]) : 0)

/**
 * Waits until the machine has nothing else to do, but no longer than so many seconds.
 * @param {number} patience
 */
export async function waitForCalm(patience) {
  const until = performance.now() + patience * 1000
  while (performance.now() < until) {
    const before = readWork(cpus())
    await new Promise((resolve) => setTimeout(resolve, 100))
    if (readWork(cpus()) - before < 0.02) return
  }
}

const readWork = (cores) =>
  cores.reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000
