// Runs two commands at a time, because most of them use one core and sometimes wait for a network.
import { spawn } from 'node:child_process'

/**
 * Runs one command and prints its output in one piece when it has ended. Returns whether it
 * succeeded.
 */
export function run(title, command, args, { cwd = '.' } = {}) {
  const start = Date.now()
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    const end = (status) => {
      const seconds = Math.round((Date.now() - start) / 1000)
      console.log(`- ${title}: ${status === 0 ? '' : 'failed, '}${seconds} s`)
      if (printed.trim()) console.log(printed.trimEnd())
      resolve(status === 0)
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        printed += chunk
      })
    }
    child.once('error', (error) => {
      printed += error.message
      end(1)
    })
    child.once('close', end)
  })
}

/**
 * Runs the tasks, at most `atOnce` at a time. Each returns whether it succeeded. Returns the number
 * of failures.
 */
export async function sideBySide(tasks, atOnce = 2) {
  const waiting = [...tasks]
  let failed = 0
  const lane = async () => {
    for (let task = waiting.shift(); task; task = waiting.shift()) if (!(await task())) failed += 1
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return failed
}
