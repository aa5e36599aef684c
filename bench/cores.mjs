import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus } from 'node:os'

/**
 * The server under test has core 0 to itself. The load generator, and Postgres as its child, share
 * core 1.
 */
const serverCore = 0
const loadCore = 1

export const canPin =
  process.platform === 'linux' &&
  availableParallelism() >= 2 &&
  spawnSync('taskset', ['--version']).status === 0

/**
 * Moves this process, and every process that it starts from now on, to the core of the load
 * generator.
 */
export function pinLoad() {
  if (canPin)
    spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `${loadCore}`, `${process.pid}`])
}

/**
 * Returns the command that runs Node with these arguments on the server's core.
 * @param {string[]} argv
 * @returns {[string, string[]]}
 */
export function serverCommand(argv) {
  const node = [process.execPath, ...argv]
  const [command, ...rest] = canPin ? ['taskset', '--cpu-list', `${serverCore}`, ...node] : node
  return [command, rest]
}

/**
 * Returns the seconds that the server's core has been busy, for any process. 0 if the server has no
 * core of its own.
 */
export const readServerCore = () => (canPin ? readWork([cpus()[serverCore]]) : 0)

/**
 * Waits until the machine is idle, for at most `patience` seconds.
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
